import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/admin/changes/change.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { freePort } from '../../support/free-port.ts';
import { issue } from '../../support/issue.ts';
import { recordsOf } from '../../support/journal-file.ts';
import { listening } from '../../support/listening.ts';
import { runExporter } from '../../support/process.ts';
import { untilIs } from '../../support/until.ts';
import { fileOf, httpsFarm, isNew, worldWith } from '../deliver/given-deliver.ts';
import { givenReloadable } from './given-reloadable.ts';

/** In each, a reload is refused and another one accepted while a call waits for its appliance. */
const rounds = Number(process.env['STORM_ROUNDS'] ?? 50);

const alice = makeToken();

async function givenStorm() {
  const configuration = (entry: object, more: object = {}) => ({
    appliances: [entry],
    admin: {
      listen_address: '127.0.0.1:0',
      journal_file: 'journal.db',
      tokens: [{ name: 'alice', sha256: alice.sha256, role: 'admin' }],
      ...more,
    },
  });
  const given = await givenReloadable(['a'], ({ entry }) => configuration(entry('a')));
  const appliance = given.appliance('a');
  const { farms, certificates, interfaces } = worldWith();
  const { world } = appliance;
  const shop = farms.get('shop');
  if (shop) world.farms.set('shop', shop);
  for (const [file, certificate] of certificates) world.certificates.set(file, certificate);
  for (const [name, each] of interfaces) world.interfaces.set(`of-${name}`, { ...each, name: `of-${name}` });
  const call = (method: string, path: string, body?: object) =>
    fetch(`${given.daemon.adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${alice.token}`, 'x-reason': 'a storm', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  /** Runs a change to its end; resolves to its state. */
  const change = async (asked: object): Promise<string> => {
    const answer = await call('POST', '/changes', { appliance: 'a', reason: 'a storm', run: 'now', ...asked });
    const last = (await answer.text()).trim().split('\n').at(-1) ?? '';
    const event = JSON.parse(last) as ChangeEvent;
    return event.event === 'over' ? event.change.state : last;
  };
  return {
    ...given,
    appliance,
    call,
    change,
    async reloadWith(more: object): Promise<boolean> {
      await given.write('zlb.yml', configuration(given.entry('a'), more));
      return 'value' in (await given.daemon.reload());
    },
  };
}

type Storm = Awaited<ReturnType<typeof givenStorm>>;

/** What goes on during a reload: the call that the appliance holds, and how it ends. */
const works: readonly {
  readonly held: string;
  readonly run: (storm: Storm, round: number) => Promise<unknown>;
  readonly end: unknown;
}[] = [
  {
    held: 'POST /system/dns',
    run: async ({ call }) => (await call('POST', '/appliances/a/system/dns', { primary: '192.0.2.1' })).status,
    end: 200,
  },
  {
    held: 'PUT /farms/{farmname}/actions',
    run: ({ change }) => change({ recipe: 'restart-farm', parameters: { farm: 'farm-0001' } }),
    end: 'done',
  },
  {
    held: 'POST /farms/{farmname}/certificates',
    run: ({ change }, round) => {
      const { cert, key } = issue({ until: 89 + round });
      return change({ recipe: 'deliver', parameters: { farm: '*' }, files: { cert, key } });
    },
    end: 'done',
  },
];

/** The values of all counters, by their series. */
function countersOf(page: string): ReadonlyMap<string, number> {
  const lines = page.matchAll(/^(zlb_\w+_(?:total|count|sum|bucket)(?:\{.*\})?) (\S+)/gm);
  return new Map([...lines].map(([, series = '', value]) => [series, Number(value)]));
}

it(`${rounds} refused and ${rounds} accepted reloads during changes lose no record, freeze or counter`, async () => {
  const storm = await givenStorm();
  const { appliance, call, page, reloadWith } = storm;
  const taken = `127.0.0.1:${await listening(createServer())}`;
  const fallen: string[] = [];
  const isHeld = (times: number) =>
    untilIs(() => appliance.requests.filter(({ fault }) => fault === 'held').length, times);
  let before = countersOf(await page());
  let lifted = 0;

  for (let round = 0; round < rounds; round += 1) {
    const work = works[round % works.length];
    const isFrozen = round % 4 === 3;
    const held = Promise.withResolvers<void>();
    if (work && !isFrozen) appliance.fail(work.held, { kind: 'held', until: held.promise }, { times: 1 });
    const asked = appliance.requests.filter(({ fault }) => fault === 'held').length;
    const running = isFrozen ? call('PUT', '/freeze') : work?.run(storm, round);
    if (isFrozen) await running;
    else
      await Promise.race([
        isHeld(asked + 1),
        running?.then((end) => Promise.reject(new Error(`not held: ${String(end)}`))),
      ]);

    const requests = { listen_tcp: '127.0.0.1:0', buckets: ['10ms', `${round + 1}s`] };
    expect(await reloadWith({ listen_address: taken, timeout: '5s', requests })).toBe(false);
    const address = round % 2 === 0 ? {} : { listen_address: `127.0.0.1:${await freePort()}` };
    expect(await reloadWith({ ...address, timeout: `${60 + round}s` })).toBe(true);
    held.resolve();

    if (isFrozen) {
      if ((await call('POST', '/appliances/a/system/dns', { primary: '192.0.2.9' })).status !== 423) lifted += 1;
      await call('DELETE', '/freeze');
    } else expect(await running, work?.held).toEqual(work?.end);
    const after = countersOf(await page());
    for (const [series, value] of before) if (!((after.get(series) ?? -1) >= value)) fallen.push(series);
    before = after;
  }

  const records = await recordsOf(storm.path('journal.db'));
  const ofEvent = (name: string) => records.filter(({ event }) => event === name);
  const arrived = appliance.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
  expect({ lifted, fallen }).toEqual({ lifted: 0, fallen: [] });
  expect(ofEvent('intent').map(({ method, path }) => `${method} ${path}`)).toEqual(arrived);
  expect(ofEvent('outcome').map(({ status }) => status)).toEqual(arrived.map(() => 200));
  expect(fileOf(appliance.world)).toEqual([isNew]);
  expect(httpsFarm(appliance.world, 'shop').needsRestart).toBe(false);
  expect(await runExporter(['audit', 'verify', storm.path('journal.db')])).toMatchObject({ code: 0 });
}, 900_000);
