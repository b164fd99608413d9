import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createActivationCertificate } from '../../../simulator/replies/activation.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { deactivatedWorld } from '../../../simulator/scenes/expiring.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import type { World } from '../../../simulator/world.ts';
import { makeMaterial } from '../../support/tls-server.ts';
import { httpsFarm, isNew } from '../deliver/given-deliver.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const agreed = ['--reason=TICKET-42', '--yes'];
const dayMs = 86_400_000;

/** A gateway, and the file of a certificate that fits. */
async function given(world: World, name = 'shop.example.com') {
  const cli = await givenAdminCli({ 'lb-1': world });
  const { cert, key } = makeMaterial({ name });
  const path = await cli.file('new.pem', `${cert}\n${key}`);
  return {
    ...cli,
    cert,
    key,
    words: (farm: string) => ['admin', 'lb-1', 'replace-certificate', `farm=${farm}`, `file=${path}`],
  };
}

describe('replace-certificate', () => {
  it('replaces the certificate of a farm on Enterprise, and restarts the farm', async () => {
    const { run, words, appliance, done, session } = await given(busyWorld());

    const { code, err } = await run([...words('shop'), ...agreed]);
    const again = await run([...words('shop'), ...agreed]);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    const shop = httpsFarm(appliance.world, 'shop');
    expect(shop.certificates).toEqual([isNew]);
    expect(shop.needsRestart).toBe(false);
    expect(appliance.world.certificates.has('shop_example_com.pem')).toBe(true);
    expect(await done()).toEqual(['uploadCertificate', 'addFarmCertificate', 'removeFarmCertificate', 'actOnFarm']);
    expect(again.code).toBe(1);
    expect(session()).toMatchSnapshot();
  });

  it('asks which of several certificates to replace, and keeps the order of the list', async () => {
    const world = busyWorld();
    httpsFarm(world, 'shop').certificates = ['shop_example_com.pem', 'intranet.pem'];
    const { run, words, session } = await given(world);

    const which = await run([...words('shop'), ...agreed]);
    const { code } = await run([...words('shop'), 'old=shop_example_com.pem', ...agreed]);
    const wrong = await run([...words('shop'), 'old=other.pem', ...agreed]);

    expect([which.code, code, wrong.code]).toEqual([1, 0, 1]);
    expect(httpsFarm(world, 'shop').certificates).toEqual([isNew, 'intranet.pem']);
    expect(session()).toMatchSnapshot();
  });

  it('warns when the new certificate lacks a name of the old one, or expires before it', async () => {
    const world = busyWorld();
    const file = 'shop_example_com.pem';
    world.certificates.set(file, { ...world.certificates.get(file)!, notAfter: Date.now() + 31 * dayMs });
    const { run, words, session } = await given(world, 'other.example.com');

    const { out } = await run([...words('shop'), '--dry-run']);

    expect(out.match(/^Note: /gm)).toHaveLength(2);
    expect(session()).toMatchSnapshot();
  });

  it('does not show the private key that the appliance sends back', async () => {
    const { run, words, appliance, key } = await given(busyWorld());
    const secret = key.trim().split('\n').slice(1, -1);
    appliance.fail('POST /certificates/{file}', {
      kind: 'status',
      status: 400,
      body: { error: 'true', message: `cannot read ${secret.join('\n')}` },
    });

    const { code, out, err } = await run([...words('shop'), ...agreed]);

    expect(code).toBe(1);
    expect(out + err).toContain('cannot read [redacted]');
    for (const line of secret) expect(out + err).not.toContain(line);
  });

  it('leaves the farm unchanged when the appliance cannot load the file', async () => {
    const { run, words, appliance, done, session } = await given(busyWorld());
    const { certificates } = appliance.world;
    const keep = certificates.set.bind(certificates);
    certificates.set = (file, each) => keep(file, { ...each, condition: 'bad_key' });

    const { code } = await run([...words('shop'), ...agreed]);

    expect(code).toBe(1);
    expect(httpsFarm(appliance.world, 'shop').certificates).toEqual(['shop_example_com.pem']);
    expect(await done()).toEqual(['uploadCertificate', 'deleteCertificate']);
    expect(session()).toMatchSnapshot();
  });

  // test/unit/admin/recipes/new-certificate.test.ts has everything else that a file may lack.
  it('validates the file before the first request', async () => {
    const { run, words, file, cert, appliance, session } = await given(busyWorld());
    const start = words('shop').slice(0, -1);

    const keyless = await run([...start, `file=${await file('bad.pem', cert)}`, ...agreed]);
    const missing = await run([...start, 'file=/no/such/file', ...agreed]);

    expect([keyless.code, missing.code]).toEqual([1, 2]);
    expect(appliance.requests).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('refuses a farm without HTTPS', async () => {
    const { run, words, changes, session } = await given(busyWorld());

    const { code } = await run([...words('legacy'), ...agreed]);

    expect(code).toBe(1);
    expect(changes()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });
});

describe('install-activation', () => {
  const licenceFor = (days: number): string =>
    createActivationCertificate({
      kind: 'permanent',
      hostname: 'lb-lisbon',
      notBefore: Date.now() - 100 * dayMs,
      notAfter: Date.now() + days * dayMs,
    });

  it('activates an appliance that answers 402, and verifies that the 402 is gone', async () => {
    const { run, file, done, session } = await givenAdminCli({ 'lb-1': deactivatedWorld() });
    const path = await file('licence.pem', licenceFor(300.5));

    const { code } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(0);
    expect(await done()).toEqual(['uploadActivationCertificate']);
    expect(session()).toMatchSnapshot();
  });

  it('explains why the appliance refuses a file, and that nothing is lost', async () => {
    const { run, file, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = await file('licence.pem', licenceFor(600));
    const body = { message: 'It is signed by somebody else.' };
    appliance.fail('POST /certificates/activation', { kind: 'status', status: 400, body });

    const { code } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });

  it('fails when the appliance accepts the file but is not activated', async () => {
    const { run, file, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = await file('licence.pem', licenceFor(300));
    const { activation } = appliance.world;
    Object.defineProperty(activation, 'refusedBecause', {
      get: () => (activation.installed?.hostname === 'lb-lisbon' ? 'It is not for this machine.' : undefined),
      set() {},
    });

    const { code, err } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(err).not.toContain('machine-of');
    expect(session()).toMatchSnapshot();
  });

  it('uploads the certificate without the private key of the file, and says so', async () => {
    const { run, file, audit, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const [licence, { key }] = [licenceFor(600), makeMaterial()];
    const path = await file('licence.pem', `${key}\n${licence}`);

    const { code } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(0);
    const alone = createHash('sha256').update(`${licence.trim()}\n`).digest('hex');
    expect(await audit()).toContainEqual(
      expect.objectContaining({ event: 'intent', body: { bytes: licence.trim().length + 1, sha256: alone } }),
    );
    expect(session()).toMatchSnapshot();
  });

  it('warns of an activation that expires earlier or is for another host, and fails after installing it', async () => {
    const { run, file, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = await file('licence.pem', licenceFor(300.5));

    const { code, out } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(out.match(/^Note: /gm)).toHaveLength(2);
    expect(session()).toMatchSnapshot();
  });

  it('fails when the trial of the appliance has expired', async () => {
    const { run, file, appliance, session } = await givenAdminCli({ 'lb-1': deactivatedWorld() });
    const path = await file('licence.pem', licenceFor(300));
    const params = { days_to_expire: -12.07, hostname: 'lb-lisbon', type: 'temporal' };
    appliance.fail('GET /certificates/activation/info', { kind: 'status', status: 200, body: { params } });

    const { code } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });

  it('is refused on a Community appliance, even with --force', async () => {
    const { run, file, changes, session } = await givenAdminCli({ 'lb-1': recordedWorld() });
    const path = await file('licence.pem', licenceFor(300));

    const { code } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed, '--force']);

    expect(code).toBe(1);
    expect(changes()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });
});
