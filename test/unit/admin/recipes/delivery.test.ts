import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Identity } from '../../../../simulator/certificate.ts';
import { planDelivery } from '../../../../src/admin/recipes/delivery.ts';
import { readNewCertificate } from '../../../../src/admin/recipes/new-certificate.ts';
import { issue } from '../../../support/issue.ts';
import { givenRecipe } from './given-recipe.ts';

/** Plans the delivery to an appliance whose farm `shop` has a certificate. */
async function planFor(old: Identity, made: Identity, alsoCovered = false) {
  const replies: Readonly<Record<string, unknown>> = {
    listCertificates: { params: [{ file: 'old.pem', CN: old.subject.CN ?? 'no CN' }] },
    readFarm: { params: { listener: 'https', certlist: [{ file: 'old.pem' }] }, services: [] },
    readFarmStatus: { params: { status: 'down' } },
    readFarmsSummary: { params: { lslb: [{ name: 'shop', profile: 'http' }] } },
    readApplianceVersion: { params: {} },
  };
  const newCertificate = readNewCertificate(
    { path: 'c', text: made.cert },
    { path: 'k', text: made.key },
    { nowMs: Date.now() },
  );
  const calls = {
    read: (key: string) => Promise.resolve(replies[key] ?? { params: {} }) as never,
    readText: () => Promise.resolve(old.cert),
  };
  const options = {
    replaces: undefined,
    fewerNames: false,
    changeKeyType: false,
    alsoCovered,
    isWanted: () => true,
  };
  return await planDelivery(givenRecipe({ calls }), newCertificate, options);
}

const names = fc.uniqueArray(
  fc.constantFrom('a.test', 'b.test', 'www.a.test', '*.a.test', '*.b.test', 'x.www.a.test'),
  {
    minLength: 1,
  },
);

it('a certificate is replaced whenever the new one has all of its names, in any order', async () => {
  const some = names.chain((all) =>
    fc.record({
      old: fc.shuffledSubarray(all, { minLength: 1 }),
      newCertificate: fc.shuffledSubarray(all, { minLength: all.length }),
      oldName: fc.constantFrom('', all[0]!),
      newName: fc.constantFrom('', all.at(-1)!),
      isLoud: fc.boolean(),
    }),
  );
  await fc.assert(
    fc.asyncProperty(some, async ({ old, newCertificate, oldName, newName, isLoud }) => {
      const plan = await planFor(
        issue({ names: isLoud ? old.map((name) => name.toUpperCase()) : old, commonName: oldName, from: -60 }),
        issue({ names: newCertificate, commonName: newName }),
        old.length < newCertificate.length,
      );

      expect(plan).toMatchObject({ deliveries: [{ farm: { name: 'shop' } }], skipped: [] });
    }),
  );
});

it('a certificate is kept whenever one of its names would be lost, and that name is reported', async () => {
  await fc.assert(
    fc.asyncProperty(names, fc.boolean(), async (some, hasName) => {
      const commonName = hasName ? some[0]! : '';
      const plan = await planFor(
        issue({ names: [...some, 'lost.test'], commonName, from: -60 }),
        issue({ names: some, commonName }),
      );

      expect(plan).toMatchObject({ deliveries: [], skipped: [{ file: 'old.pem', lost: ['lost.test'] }] });
    }),
  );
});

it('a certificate for fewer names is kept, even if its name is the first of the new one', async () => {
  const plan = await planFor(
    issue({ names: ['a.test'], from: -60 }),
    issue({ names: ['a.test', 'b.test'], commonName: '' }),
  );

  expect(plan).toMatchObject({ deliveries: [], skipped: [{ file: 'old.pem', lost: [] }] });
});

it('a delivery makes no call that waits for the proxies of other farms', async () => {
  const asked: string[] = [];
  const farm = (name: string, profile = 'http') => ({ name, profile });
  const replies: Readonly<Record<string, unknown>> = {
    readFarmsSummary: { params: { lslb: [farm('shop'), farm('hung'), farm('plain'), farm('db', 'l4xnat')] } },
    readFarm: { params: { listener: 'https', vip: '192.0.2.1', vport: '443', certlist: [{ file: 'old.pem' }] } },
    readFarmStatus: { params: { status: 'down' } },
    listCertificates: { params: [{ file: 'old.pem', CN: 'a.test' }] },
    readSystemInfo: { params: { edition: 'community' } },
  };
  const [old, made] = [issue({ names: ['a.test'], from: -60 }), issue({ names: ['a.test'] })];
  const context = givenRecipe({
    calls: {
      read: (key: string, params: object) => {
        asked.push([key, ...Object.values(params)].join(' '));
        return Promise.resolve(replies[key] ?? { params: {} }) as never;
      },
      readText: () => Promise.resolve(old.cert),
    },
    knownFarms: () => [
      {
        name: 'hung',
        profile: 'https',
        state: 'up',
        vip: '192.0.2.1',
        vport: '444',
        isSilent: true,
        certificates: ['x.pem'],
      },
      { name: 'plain', profile: 'http', state: 'up', vip: '192.0.2.1', vport: '80' },
    ],
  });
  const newCertificate = readNewCertificate(
    { path: 'c', text: made.cert },
    { path: 'k', text: made.key },
    { nowMs: Date.now() },
  );
  const options = { replaces: undefined, fewerNames: false, changeKeyType: false, isWanted: () => true };

  const { deliveries } = await planDelivery(context, newCertificate, options);

  expect(deliveries.map(({ farm: { name, vip, vport } }) => [name, vip, vport])).toEqual([
    ['shop', '192.0.2.1', '443'],
  ]);
  expect(asked.filter((each) => /listFarms|hung|plain|db/.test(each))).toEqual([]);
  expect(asked).toContain('readFarm shop');
});
