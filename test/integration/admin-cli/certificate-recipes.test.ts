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

/** The name of a new certificate in the store, which has its fingerprint. */
const stored = /shop\.example\.com-[\da-f]{12}\.pem/g;

/** A gateway, and the file of a certificate that fits. */
async function given(world: World, name = 'shop.example.com') {
  const cli = await givenAdminCli({ 'lb-1': world });
  const { cert, key } = makeMaterial({ name });
  const path = await cli.file('new.pem', `${cert}\n${key}`);
  return {
    ...cli,
    cert,
    words: (farm: string) => ['admin', 'lb-1', 'replace-certificate', `farm=${farm}`, `file=${path}`],
  };
}

describe('replace-certificate', () => {
  it('puts a new certificate in the place of the old one on Enterprise, and restarts the farm', async () => {
    const { run, words, appliance, done } = await given(busyWorld());

    const { code, out, err } = await run([...words('shop'), ...agreed]);
    const again = await run([...words('shop'), ...agreed]);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /The file is for shop\.example\.com, from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d; key and certificate match\./,
    );
    const steps = out.replaceAll(stored, 'new.pem').split('\n');
    expect(steps.filter((line) => line.startsWith('✓'))).toMatchInlineSnapshot(`
      [
        "✓ 1. new.pem is in the store.",
        "✓ 2. new.pem is valid.",
        "✓ 3. shop has new.pem; clients see it after the restart.",
        "✓ 4. shop no longer has shop_example_com.pem.",
        "✓ 5. shop was restarted.",
        "✓ 6. shop is problem.",
        "✓ 7. Before: problem, 4 of 5 backends up. After: problem, 4 of 5 backends up.",
        "✓ 8. shop has new.pem.",
      ]
    `);
    const shop = httpsFarm(appliance.world, 'shop');
    expect(shop.certificates).toEqual([isNew]);
    expect(shop.needsRestart).toBe(false);
    expect(appliance.world.certificates.has('shop_example_com.pem')).toBe(true);
    expect(await done()).toEqual(['uploadCertificate', 'addFarmCertificate', 'removeFarmCertificate', 'actOnFarm']);
    expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/shop has shop\S+ already/) });
  });

  it('keeps the place of the old one among several, of which somebody says the one', async () => {
    const world = busyWorld();
    httpsFarm(world, 'shop').certificates = ['shop_example_com.pem', 'intranet.pem'];
    const { run, words } = await given(world);

    const which = await run([...words('shop'), ...agreed]);
    const { code } = await run([...words('shop'), 'old=shop_example_com.pem', ...agreed]);
    const wrong = await run([...words('shop'), 'old=other.pem', ...agreed]);

    expect(which.err).toContain('Say which one goes: old=shop_example_com.pem, or old=intranet.pem.');
    expect(code).toBe(0);
    expect(httpsFarm(world, 'shop').certificates).toEqual([isNew, 'intranet.pem']);
    expect(wrong.code).toBe(1);
    expect(wrong.err).toMatch(/shop has no certificate other\.pem\..*\n *It has shop\S+, intranet\.pem\./);
  });

  it('warns when the new one lacks the name of the old one, or ends before it', async () => {
    const world = busyWorld();
    const file = 'shop_example_com.pem';
    world.certificates.set(file, { ...world.certificates.get(file)!, notAfter: Date.now() + 31 * dayMs });
    const { run, words } = await given(world, 'other.example.com');

    const { out } = await run([...words('shop'), '--dry-run']);

    expect(out).toContain('Mind: the new certificate is not good for shop.example.com, the name of the old one.');
    expect(out).toMatch(/Mind: the new certificate ends on \d{4}-\d\d-\d\d, before the old one\./);
  });

  it('leaves the farm as it was when the appliance cannot load the file', async () => {
    const { run, words, appliance, done } = await given(busyWorld());
    const { certificates } = appliance.world;
    const keep = certificates.set.bind(certificates);
    certificates.set = (file, each) => keep(file, { ...each, condition: 'bad_key' });

    const { code, err } = await run([...words('shop'), ...agreed]);

    expect(code).toBe(1);
    const said = err.replaceAll(stored, 'new.pem');
    expect(said).toContain('new.pem is invalid in the store');
    expect(said).toMatch(/Done: 1\. Upload it as new\.pem\.\nNot done: 3\. Attach new\.pem to shop; 4\. /);
    expect(said).toContain('shop has shop_example_com.pem, as before. new.pem is out of the store again.');
    expect(await done()).toEqual(['uploadCertificate', 'deleteCertificate']);
  });

  // test/unit/admin/recipes/renewed.test.ts has everything else that a file may lack.
  it('looks at the file before it asks anybody', async () => {
    const { run, words, file, cert, appliance } = await given(busyWorld());
    const start = words('shop').slice(0, -1);

    const keyless = await run([...start, `file=${await file('bad.pem', cert)}`, ...agreed]);
    const missing = await run([...start, 'file=/no/such/file', ...agreed]);

    expect(keyless).toMatchObject({ code: 1, err: expect.stringContaining('file holds no PEM private key') });
    expect(missing).toMatchObject({ code: 2, err: 'file: the file cannot be read: there is no such file' });
    expect(appliance.requests).toEqual([]);
  });

  it('refuses a farm without HTTPS', async () => {
    const { run, words, changes } = await given(busyWorld());

    const { code, err } = await run([...words('legacy'), ...agreed]);

    expect(code).toBe(1);
    expect(err).toContain('legacy does not speak HTTPS');
    expect(changes()).toEqual([]);
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

  it('activates an appliance that answers 402, and sees that it does no more', async () => {
    const { run, file, done } = await givenAdminCli({ 'lb-1': deactivatedWorld() });
    const path = await file('licence.pem', licenceFor(300.5));

    const { code, out } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(0);
    expect(out).toContain('lb-1 is deactivated: it answers 402.');
    expect(out).toMatch(
      /✓ 1\. The appliance took it\.\n✓ 2\. lb-lisbon is activated\.\n✓ 3\. It is permanent and ends in 300 days\.$/,
    );
    expect(await done()).toEqual(['uploadActivationCertificate']);
  });

  it('says why the appliance refuses a file, and that nothing is lost', async () => {
    const { run, file, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = await file('licence.pem', licenceFor(600));
    const body = { message: 'It is signed by somebody else.' };
    appliance.fail('POST /certificates/activation', { kind: 'status', status: 400, body });

    const { code, out, err } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(out).toContain('then keeps the one it has.');
    expect(err).toContain('It is signed by somebody else.');
    expect(err).toContain('Nothing was changed before that.');
  });

  it('notices an appliance that took the file and is not activated', async () => {
    const { run, file, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = await file('licence.pem', licenceFor(300));
    const { activation } = appliance.world;
    Object.defineProperty(activation, 'refusedBecause', {
      get: () => (activation.installed?.hostname === 'lb-lisbon' ? 'It is not for this machine.' : undefined),
      set() {},
    });

    const { code, err } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(err).toContain(
      'Done: 1. Upload the activation certificate.\nNot done: 3. See that it lasts as long as the one before it.',
    );
    expect(err).toContain('lb-1 answered 402. It is not for this machine.');
    expect(err).toContain('lb-1 install-activation file=…, with the file that was installed before');
    expect(err).not.toContain('machine-of');
  });

  it('keeps a private key here, and says so', async () => {
    const { run, file, audit } = await givenAdminCli({ 'lb-1': busyWorld() });
    const [licence, { key }] = [licenceFor(600), makeMaterial()];
    const path = await file('licence.pem', `${key}\n${licence}`);

    const { code, out } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(0);
    expect(out).toMatch(/^The private key in \S+licence\.pem stays here\.$/m);
    const alone = createHash('sha256').update(`${licence.trim()}\n`).digest('hex');
    expect(await audit()).toContainEqual(
      expect.objectContaining({ event: 'intent', body: { bytes: licence.trim().length + 1, sha256: alone } }),
    );
  });

  it('warns of one that ends earlier or is for another host, and fails once it is installed', async () => {
    const { run, file } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = await file('licence.pem', licenceFor(300.5));

    const { code, out, err } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(out).toMatch(/Mind: it is not for \S+, the host name of lb-1\./);
    expect(out).toMatch(/Mind: it ends before the present one, which lasts 5\d\d days more\./);
    expect(err).toContain('✗ 3. See that it lasts as long as the one before it');
    expect(err).toMatch(/ends before the one it replaced \(5\d\d days\)\. It is permanent and ends in 300 days\./);
  });

  it('fails when the appliance has a trial that is over nevertheless', async () => {
    const { run, file, appliance } = await givenAdminCli({ 'lb-1': deactivatedWorld() });
    const path = await file('licence.pem', licenceFor(300));
    const params = { days_to_expire: -12.07, hostname: 'lb-lisbon', type: 'temporal' };
    appliance.fail('GET /certificates/activation/info', { kind: 'status', status: 200, body: { params } });

    const { code, err } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed]);

    expect(code).toBe(1);
    expect(err).toContain('The certificate on the appliance is over. It is temporal and ends in -12.07 days.');
  });

  it('is refused on a Community appliance, forced or not', async () => {
    const { run, file, changes } = await givenAdminCli({ 'lb-1': recordedWorld() });
    const path = await file('licence.pem', licenceFor(300));

    const { code, err } = await run(['admin', 'lb-1', 'install-activation', `file=${path}`, ...agreed, '--force']);

    expect(code).toBe(1);
    expect(err).toContain('lb-1 is a Community appliance, which needs no activation');
    expect(changes()).toEqual([]);
  });
});
