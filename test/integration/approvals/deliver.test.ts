import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCertificate, type Identity } from '../../../simulator/certificate.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import type { World } from '../../../simulator/world.ts';
import { givenFolder } from '../../support/folder.ts';
import { until } from '../../support/until.ts';
import { attach, dayMs, fileOf, httpsFarm, isNew, issue, name, worldWith } from '../deliver/given-deliver.ts';
import { givenApprovals } from './given-approvals.ts';

const expiring = { alertname: 'ZlbCertificateExpirySoon', appliance: 'lb-1', file: 'old.pem' };

/** A gateway with a folder of renewed certificates, and an Alertmanager that posts alerts. */
async function givenRenewals(world: World, renewed: Readonly<Record<string, string>>) {
  const folder = givenFolder();
  const put = async (file: string, text: string): Promise<void> => {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(renewed)) await put(file, text);
  const approvals = { requiredFor: [], ttlMs: 1_800_000, selfApproval: false, certificatesFolder: folder };
  const given = await givenApprovals({ admin: { approvals } }, { 'lb-1': world });
  const tell = (labels: object = expiring, status = 'firing') =>
    given.call('alertmanager', 'POST', '/alerts', {
      version: '4',
      alerts: [{ status, labels, startsAt: '2026-11-24T01:00:00Z' }],
    });
  const proposal = async () => {
    const requests = async () =>
      (await given.call('root', 'GET', '/requests')).json?.requests as readonly { id: string; title: string }[];
    return (await until(requests, (all) => all.length === 1))[0]!;
  };
  const refusal = () =>
    until(
      () => given.logged.find((line) => line.includes('no repair proposed')) ?? '',
      (line) => line !== '',
    );
  return { ...given, folder, put, tell, proposal, refusal };
}

const certbot = ({ cert, key }: Identity) => ({ 'shop/fullchain.pem': cert, 'shop/privkey.pem': key });

describe('a certificate that expires, with a newer one in the folder', () => {
  it('is replaced once a person has approved the delivery', async () => {
    const world = worldWith();
    const renewed = issue();
    const { tell, proposal, approve, ended, sent, read, logged, audit } = await givenRenewals(world, certbot(renewed));

    const told = await tell();
    const { id, title } = await proposal();
    const before = [...fileOf(world)];
    const { plan } = (await read(id)) as { plan: { facts: readonly string[] } };
    await approve('root', id);
    const over = await ended(id);

    expect(told.json).toEqual({ proposed: 1, withdrawn: 0, ignored: 0 });
    expect(title).toBe('deliver certificate=old.pem');
    expect(before).toEqual(['old.pem']);
    expect(plan.facts.join(' ')).toMatch(
      /shop\/fullchain\.pem is for shop\.example\.com .* old\.pem stays in the store/,
    );
    expect(over).toMatchObject({ state: 'done' });
    expect(fileOf(world)).toEqual([isNew]);
    expect(world.certificates.has('old.pem')).toBe(true);
    expect(httpsFarm(world, 'shop').needsRestart).toBe(false);
    expect(sent()).toHaveLength(4);
    const key = renewed.key.split('\n')[1]!;
    expect(JSON.stringify([over, await audit()]) + logged.join('')).not.toContain(key);
  });

  it('is replaced on the Community Edition, which keeps one', async () => {
    const world = recordedWorld();
    httpsFarm(world, 'secure-shop').certificates = [];
    attach(world, 'secure-shop', 'old.pem', issue({ from: -60, until: 29 }));
    const { tell, proposal, approve, ended } = await givenRenewals(world, certbot(issue()));

    await tell();
    const { id } = await proposal();
    // No call of it is destructive.
    await approve('bob', id);

    expect(await ended(id)).toMatchObject({ state: 'done' });
    expect(fileOf(world, 'secure-shop')).toEqual([isNew]);
  });

  it('is found in live/NAME of certbot, which has links to archive/NAME', async () => {
    const { cert, key } = issue();
    const files = { 'archive/shop/fullchain1.pem': cert, 'archive/shop/privkey1.pem': key };
    const { folder, tell, proposal } = await givenRenewals(worldWith(), files);
    await mkdir(join(folder, 'live/shop'), { recursive: true });
    for (const each of ['fullchain', 'privkey'])
      await symlink(`../../archive/shop/${each}1.pem`, join(folder, 'live/shop', `${each}.pem`));

    await tell();

    expect(await proposal()).toMatchObject({ title: 'deliver certificate=old.pem' });
  });

  it.each([
    ['lego', (folder: string) => [`${name}.crt`, `${name}.key`].map((file) => join(folder, file))],
    ['a folder of certbot', (folder: string) => ['fullchain.pem', 'privkey.pem'].map((file) => join(folder, file))],
  ])('is found where %s stores it, also behind a link', async (_, paths) => {
    const { cert, key } = issue();
    const { folder, put, tell, proposal } = await givenRenewals(worldWith(), {});
    await put(join('archive', 'cert1'), cert);
    await put(join('archive', 'key1'), key);
    const [certPath = '', keyPath = ''] = paths(folder);
    await symlink(join(folder, 'archive', 'cert1'), certPath);
    await symlink(join(folder, 'archive', 'key1'), keyPath);

    await tell();

    expect(await proposal()).toMatchObject({ title: 'deliver certificate=old.pem' });
  });

  it('is found among many other files', async () => {
    const { folder, put, tell, proposal } = await givenRenewals(worldWith(), {});
    for (let other = 0; other < 1_200; other += 1) writeFileSync(join(folder, `${other}.json`), '');
    const { cert, key } = issue();
    await put('shop/fullchain.pem', cert);
    await put('shop/privkey.pem', key);

    await tell();

    expect(await proposal()).toMatchObject({ title: 'deliver certificate=old.pem' });
  });

  it('asks again when the folder has another one by the time of the approval', async () => {
    const world = worldWith();
    const { put, tell, proposal, approve, read } = await givenRenewals(world, certbot(issue()));
    await tell();
    const { id } = await proposal();
    const again = issue({ until: 95 });
    await put('shop/fullchain.pem', again.cert);
    await put('shop/privkey.pem', again.key);

    const answer = await approve('root', id);

    expect(answer).toMatchObject({ status: 409, json: { code: 'plan_changed' } });
    expect(await read(id)).toMatchObject({ state: 'proposed' });
    expect(fileOf(world)).toEqual(['old.pem']);
  });

  it('goes no further after a failed step, and says how to go back', async () => {
    const world = worldWith();
    const { tell, proposal, approve, ended, appliance } = await givenRenewals(world, certbot(issue()));
    await tell();
    const { id } = await proposal();
    appliance.fail('DELETE /farms/{farmname}/certificates/{certificate}', { kind: 'status', status: 400, body: {} });
    await approve('root', id);

    const { outcome, state } = (await ended(id)) as { outcome: { lines: readonly string[] }; state: string };

    expect(state).toBe('failed');
    expect(outcome.lines.join('\n')).toMatch(/To go back: zlb-exporter admin lb-1 removeFarmCertificate/);
  });
});

describe('no delivery is proposed', () => {
  const shop = certbot(issue());
  const other = issue();
  const soon = issue({ from: -2, until: 3 });
  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['without a newer certificate', certbot(issue({ from: -61, until: 20 })), /no newer certificate for old\.pem/],
    ['for a certificate that is not valid yet', certbot(issue({ from: 1 })), /no newer certificate/],
    ['for other names', certbot(issue({ names: ['blog.example.com'] })), /no newer certificate/],
    ['for another type of key', certbot(issue({ rsa: true })), /fullchain\.pem has an RSA key, old\.pem an ECDSA key/],
    ['from a folder that is too deep', { 'a/b/c/d.crt': shop['shop/fullchain.pem'] }, /two levels of folders in it/],
    ['without its key', { 'shop/fullchain.pem': other.cert }, /privkey\.pem cannot be read \(ENOENT\)/],
    ['with the key of another', { ...shop, 'shop/privkey.pem': other.key }, /is that of no certificate/],
    ['from a damaged file', { 'shop/fullchain.pem': 'no PEM' }, /holds no PEM certificate/],
    ['from a file without end', { 'shop/fullchain.pem': 'x'.repeat(2_000_000) }, /longer than/],
    [
      'for a certificate that has no key, with the key of one that ends sooner',
      { 'shop/fullchain.pem': shop['shop/fullchain.pem'] + soon.cert, 'shop/privkey.pem': soon.key },
      /privkey\.pem is not the key of the first certificate in/,
    ],
    [
      'from files with names that are no names',
      { 'a\n\u202e/fullchain.pem': 'no PEM' },
      /\/a \/fullchain\.pem holds no PEM certificate/,
    ],
    [
      'from more files than a sentence can name',
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${at}.crt`, 'no PEM'])),
      /; and 95 other files\./,
    ],
  ])('%s', async (_, files, because) => {
    const { tell, refusal, sent } = await givenRenewals(worldWith(), files);

    await tell();

    expect(await refusal()).toMatch(because);
    expect(sent()).toEqual([]);
  });

  it('from a folder in it that cannot be read, and says so', async () => {
    const { folder, tell, refusal } = await givenRenewals(worldWith(), {});
    await symlink('loop', join(folder, 'loop'));

    await tell();

    expect(await refusal()).toMatch(/loop cannot be read \(ELOOP\)/);
  });

  it('from a folder that is not there', async () => {
    const { folder, tell, refusal } = await givenRenewals(worldWith(), {});
    await rm(folder, { recursive: true });

    await tell();

    expect(await refusal()).toMatch(/cannot be read \(ENOENT\).*admin\.approvals\.certificates_folder/);
  });

  it('from files that never end', async () => {
    const { folder, tell, refusal } = await givenRenewals(worldWith(), {});
    // A regular file of the size 0, of which 757 MB were read.
    await symlink('/proc/self/pagemap', join(folder, 'map.crt'));
    await symlink('/dev/zero', join(folder, 'zero.crt'));
    execFileSync('mkfifo', [join(folder, 'pipe.crt')]);

    await tell();

    const said = await refusal();
    expect(said).toMatch(/map\.crt cannot be read \((?:EINVAL|it is longer than 65536 bytes)\)/);
    expect(said).toMatch(/zero\.crt is a device/);
    expect(said).toMatch(/pipe\.crt is a named pipe/);
  });

  it('from a folder that is no folder of certificates', async () => {
    const { folder, tell, refusal } = await givenRenewals(worldWith(), {});
    await mkdir(join(folder, '0'));
    for (let file = 0; file < 100; file += 1) writeFileSync(join(folder, '0', `${file}.txt`), '');
    for (let link = 1; link < 100; link += 1) await symlink('0', join(folder, String(link)));

    await tell();

    expect(await refusal()).toMatch(/has more than 10000 files/);
  });

  it.each([
    ['has no name', { subject: { OU: 'nobody' } as Identity['subject'] }],
    ['has an empty name', { subject: { CN: '' } }],
    ['is for all names below one', { subject: { CN: '.example.com' }, altNames: ['DNS:.example.com'] }],
  ])('in the place of a certificate that %s', async (_, named) => {
    const world = worldWith();
    const [notBefore, notAfter] = [-60, 29].map((days) => new Date(Date.now() + days * dayMs)) as [Date, Date];
    httpsFarm(world, 'shop').certificates = [];
    attach(world, 'shop', 'old.pem', createCertificate({ ...named, notBefore, notAfter }));
    const { tell, refusal } = await givenRenewals(world, shop);

    await tell();

    expect(await refusal()).toMatch(/no newer certificate for old\.pem/);
  });

  it.each(['no-such.pem', 'old.pem/../../system/users', 'server.key', '<b>', '$(reboot)'])(
    'for a file that is no certificate of the appliance: %s',
    async (file) => {
      const { tell, refusal, sent } = await givenRenewals(worldWith(), shop);

      await tell({ ...expiring, file });

      expect(await refusal()).not.toBe('');
      expect(sent()).toEqual([]);
    },
  );

  it('for a certificate that no farm presents', async () => {
    const world = worldWith();
    httpsFarm(world, 'shop').certificates = ['intranet.pem'];
    const { tell, refusal } = await givenRenewals(world, shop);

    await tell();

    expect(await refusal()).toMatch(/No farm presents old\.pem/);
  });

  it('to more farms than a plan has room for, and no more of them are looked at then', async () => {
    const world = worldWith();
    for (let farm = 0; farm < 60; farm += 1) {
      const name = `farm-${farm}`;
      world.farms.set(name, { ...structuredClone(httpsFarm(world, 'shop')), name });
    }
    const { tell, refusal, appliance } = await givenRenewals(world, shop);

    await tell();

    expect(await refusal()).toMatch(/The plan is too long/);
    expect(appliance.requests.length).toBeLessThan(340);
  });

  it('for a viewer, who learns nothing of the folder', async () => {
    const { call, appliance } = await givenRenewals(worldWith(), { 'customer/fullchain.pem': 'no PEM' });

    const { json, text } = await call('dave', 'POST', '/requests', {
      appliance: 'lb-1',
      recipe: 'deliver',
      parameters: { certificate: 'old.pem' },
      reason: 'curious',
    });

    expect(json?.code).toBe('role_too_low');
    expect(text).not.toContain('customer');
    expect(appliance.requests).toEqual([]);
  });

  it('while no folder is configured', async () => {
    const given = await givenApprovals();

    const { json } = await given.call('alertmanager', 'POST', '/alerts', {
      version: '4',
      alerts: [{ status: 'firing', labels: expiring, startsAt: '2026-11-24T01:00:00Z' }],
    });

    expect(json).toEqual({ proposed: 0, withdrawn: 0, ignored: 1 });
  });
});

it('a person asks for a delivery as well', async () => {
  const world = worldWith();
  const { call, approve, ended } = await givenRenewals(world, certbot(issue()));

  const asked = await call('eve', 'POST', '/requests', {
    appliance: 'lb-1',
    recipe: 'deliver',
    parameters: { certificate: 'old.pem' },
    reason: 'renewed yesterday',
  });
  await approve('root', String(asked.json?.id));

  expect(asked.status).toBe(202);
  expect(await ended(String(asked.json?.id))).toMatchObject({ state: 'done' });
});
