import { cp } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { addSecondFarm, attach, fileOf, given, httpsFarm, isNew, worldWith } from './given-deliver.ts';
import { wordsOf } from '../../support/documented-command.ts';
import { issue, type Issued, name } from '../../support/issue.ts';
import { untilIs } from '../../support/until.ts';

describe('deliver', () => {
  it('installs a renewed certificate on all farms of all appliances, and does nothing the second time', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    // Certificates of newer profiles have alternative names only.
    const { certificates } = worlds['lb-2'];
    certificates.set('old.pem', { ...certificates.get('old.pem')!, commonName: 'no CN' });
    addSecondFarm(worlds['lb-1']);
    const { run, words, done } = await given(worlds);

    const first = await run(words);
    const sent = await done();
    const second = await run(words);

    expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' });
    expect(first.out).toMatch(/lb-1 +shop +delivered +in the place of old\.pem/);
    expect(first.out).toMatch(/lb-1 +shop2 +delivered/);
    expect(first.out).toMatch(/lb-2 +shop +delivered/);
    expect(fileOf(worlds['lb-1'])).toEqual([isNew]);
    expect(fileOf(worlds['lb-1'], 'shop2')).toEqual([isNew]);
    expect(fileOf(worlds['lb-2'])).toEqual([isNew]);
    expect(fileOf(worlds['lb-1'], 'intranet'), 'a farm with another certificate').toEqual(['intranet.pem']);
    expect(httpsFarm(worlds['lb-1'], 'shop').needsRestart).toBe(false);
    expect(sent.filter((key) => key === 'uploadCertificate')).toHaveLength(2);
    expect(second.code).toBe(0);
    expect(second.out.match(/has it already/g)).toHaveLength(3);
    expect(await done()).toEqual(sent);
  });

  it('replaces a certificate on the Community Edition, which stores only one', async () => {
    const world = recordedWorld();
    httpsFarm(world, 'secure-shop').certificates = [];
    attach(world, 'secure-shop', 'old.pem', issue({ from: -60 }));
    const { run, words, done } = await given({ 'lb-1': world });

    const { code, out } = await run(words);

    expect(code).toBe(0);
    expect(out).not.toContain('was replaced already');
    expect(fileOf(world, 'secure-shop')).toEqual([isNew]);
    expect(await done()).toEqual(['uploadCertificate', 'addFarmCertificate', 'actOnFarm']);
  });

  it('changes nothing with --dry-run, and shows the steps, one of which is the upload', async () => {
    const world = worldWith();
    addSecondFarm(world);
    const { run, words, done } = await given({ 'lb-1': world });

    const { code, out } = await run([...words, '--dry-run']);

    expect(code).toBe(0);
    expect(out.match(/: Upload it as/g)).toHaveLength(1);
    expect(out).toContain('lb-1: Remove old.pem from shop\n');
    expect(out).toMatch(/lb-1 +shop +would be delivered +in the place of old\.pem/);
    expect(await done()).toEqual([]);
  });

  it('limits itself to the farms of --only', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    const { run, words } = await given(worlds);

    const { code } = await run([...words, '--only=lb-2/shop']);

    expect(code).toBe(0);
    expect(fileOf(worlds['lb-1'])).toEqual(['old.pem']);
    expect(fileOf(worlds['lb-2'])).toEqual([isNew]);
  });

  it('replaces the certificate with a key of the same type, and leaves the other beside it', async () => {
    const world = worldWith();
    attach(world, 'shop', 'old-rsa.pem', issue({ from: -60, rsa: true }));
    const { run, words } = await given({ 'lb-1': world }, issue({ rsa: true }));

    const { code, err } = await run(words);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(fileOf(world)).toEqual(['old.pem', isNew]);
  });

  it('changes nothing when the new certificate has another key type than the farm, and names both', async () => {
    const { run, words, done } = await given({ 'lb-1': worldWith(issue({ from: -60, rsa: true })) });

    const unnamed = await run(words);
    const byName = await run([...words, `--replaces=${name}`]);
    const byFile = await run([...words, '--replaces=old.pem']);

    for (const { code, err } of [unnamed, byName, byFile]) {
      expect(code).toBe(1);
      expect(err).toContain('but the key of old.pem is RSA, and the key of the new certificate is ECDSA');
      expect(err).toContain('certbot: --key-type rsa');
      expect(err).toContain('--change-key-type');
    }
    expect(await done()).toEqual([]);
  });

  it('replaces one key type with the other when --change-key-type is set, once', async () => {
    const world = worldWith(issue({ from: -60, rsa: true }));
    const { run, words } = await given({ 'lb-1': world });

    const first = await run([...words, '--change-key-type']);
    // A farm with both types keeps the other one.
    attach(world, 'shop', 'rsa.pem', issue({ rsa: true }));
    const second = await run([...words, '--change-key-type']);

    expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' });
    expect(second.out).toContain('has it already');
    expect(fileOf(world)).toEqual([isNew, 'rsa.pem']);
  });

  it('needs --force to change the key type on a farm with its own cipher list', async () => {
    const world = worldWith(issue({ from: -60, rsa: true }));
    Object.assign(httpsFarm(world, 'shop').settings, { ciphers: 'customsecurity', cipherc: 'AES128-SHA' });
    const { run, words } = await given({ 'lb-1': world });

    const refused = await run([...words, '--change-key-type']);
    const forced = await run([...words, '--change-key-type', '--force', '--reason=list looked at']);

    expect(refused.out).toContain('shop has its own list of ciphers');
    expect(forced.code, forced.err).toBe(0);
  });

  it('delivers to the farms with the same key type, and names the others', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith(issue({ from: -60, rsa: true })) };
    const { run, words } = await given(worlds);

    const { code, out } = await run(words);

    expect(code).toBe(0);
    expect(out).toMatch(/lb-2 +shop +other key type +the key of old\.pem is RSA/);
    expect(fileOf(worlds['lb-2'])).toEqual(['old.pem']);
  });

  // test/unit/admin/recipes/delivery.test.ts has any names in any order.
  it('finds the farm when the renewed certificate covers the old name only by a wildcard', async () => {
    const world = worldWith(issue({ names: ['www.shop.test'], from: -60 }));
    const { run, words } = await given({ 'lb-1': world }, issue({ names: ['*.shop.test'] }));

    const { code, err } = await run(words);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(fileOf(world)).toEqual([expect.not.stringMatching('old.pem')]);
  });

  it.each<[string, Issued, Issued, Issued]>([
    ['a wider one', { names: ['shop.test'] }, { names: ['shop.test', 'pay.test'] }, { names: ['shop.test'] }],
    ['a narrower one', { names: ['*.x.test', 'x.test'] }, { names: ['api.x.test'] }, { names: ['x.test', '*.x.test'] }],
  ])('skips a farm that merely shares a name: %s', async (_, own, others, renewed) => {
    const worlds = {
      'lb-1': worldWith(issue({ ...own, from: -60 })),
      'lb-2': worldWith(issue({ ...others, from: -60 })),
    };
    addSecondFarm(worlds['lb-1']);
    httpsFarm(worlds['lb-1'], 'shop2').certificates = [];
    attach(worlds['lb-1'], 'shop2', 'other.pem', issue({ ...others, from: -60 }));
    const { run, words } = await given(worlds, issue(renewed));

    const first = await run(words);
    const again = await run(words);

    for (const { code, out } of [first, again]) {
      expect(code, out).toBe(0);
      expect(out).toMatch(/lb-1 +shop2 +other names .*--replaces=other\.pem/);
      expect(out).toMatch(/lb-2 +shop +other names .*--replaces=old\.pem/);
    }
    expect(fileOf(worlds['lb-1'])).toEqual([expect.not.stringMatching('old.pem')]);
    expect(fileOf(worlds['lb-1'], 'shop2')).toEqual(['other.pem']);
    expect(fileOf(worlds['lb-2'])).toEqual(['old.pem']);
  });

  it('changes nothing when two certificates with other names match, and replaces the one that is named', async () => {
    const worlds = {
      'lb-1': worldWith(issue({ names: ['api.x.test'], from: -60 })),
      'lb-2': worldWith(issue({ names: ['www.x.test'], from: -60 })),
    };
    const { run, words, done } = await given(worlds, issue({ names: ['*.x.test'] }));

    const unnamed = await run(words);
    const sent = await done();
    const named = await run([...words, '--replaces=api.x.test']);

    expect(unnamed).toMatchObject({ code: 1 });
    expect(unnamed.err).toContain('old.pem of lb-1/shop: api.x.test; old.pem of lb-2/shop: www.x.test');
    expect(sent).toEqual([]);
    expect(named.code, named.err).toBe(0);
    expect(fileOf(worlds['lb-1'])).toEqual([expect.not.stringMatching('old.pem')]);
    expect(fileOf(worlds['lb-2'])).toEqual(['old.pem']);
  });

  it('says which name would be lost, and how to replace the certificate anyway', async () => {
    const world = worldWith(issue({ names: ['shop.test', 'api.test', 'pay.test'], from: -60 }));
    const { run, words } = await given({ 'lb-1': world }, issue({ names: ['api.test', 'shop.test'], commonName: '' }));

    const refused = await run(words);
    const forced = await run([...words, '--force', '--reason=x']);
    const named = await run([...words, '--replaces=old.pem', '--force', '--reason=pay moved']);

    for (const { code, out } of [refused, forced]) {
      expect(code).toBe(1);
      expect(out).toMatch(
        /does not cover pay\.test, which old\.pem of shop covers.*--replaces=old\.pem --force --reason=TEXT/,
      );
    }
    expect(named.code, named.err).toBe(0);
    expect(fileOf(world)).toEqual([expect.not.stringMatching('old.pem')]);
  });

  it('leaves a stopped farm stopped', async () => {
    const world = worldWith();
    httpsFarm(world, 'shop').running = false;
    const { run, words, done } = await given({ 'lb-1': world });

    const { code, out } = await run(words);

    expect(code).toBe(0);
    expect(out).toContain('in the place of old.pem; the farm is stopped');
    expect(await done()).not.toContain('actOnFarm');
  });

  it('exits without a table when it is interrupted while it plans', async () => {
    const { run, words, appliance } = await given({ 'lb-1': worldWith(), 'lb-2': worldWith() });
    appliance.fail('GET /certificates', { kind: 'hang' });
    const stopping = new AbortController();

    const running = run(words, { stopped: stopping.signal });
    await untilIs(() => appliance.sleeping, 1);
    stopping.abort();
    const { code, out, err } = await running;

    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('Interrupted');
  });

  it('delivers to the others when one appliance cannot be read, and exits with 1', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    const { run, words, appliance } = await given(worlds);
    appliance.fail('GET /farms/modules/summary', { kind: 'status', status: 500, body: { message: 'Broken.' } });

    const { code, out } = await run(words);

    expect(code).toBe(1);
    expect(out).toMatch(/lb-1 +- +failed +lb-1 answered 500\. Broken\./);
    expect(fileOf(worlds['lb-2'])).toEqual([isNew]);
  });
});

describe('a delivery that fails', () => {
  it('restores the old certificate of the farm, and skips the remaining farms', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    httpsFarm(worlds['lb-1'], 'shop').configError = 'There is no such cipher.';
    const { run, words } = await given(worlds);

    const { code, out } = await run(words);

    expect(code).toBe(1);
    expect(out).toContain('There is no such cipher.');
    expect(out).toContain('shop has old.pem, as before; its state is needed restart.');
    expect(out).toMatch(/lb-2 +shop +not tried +an earlier farm failed/);
    expect(fileOf(worlds['lb-1'])).toEqual(['old.pem']);
    expect(fileOf(worlds['lb-2'])).toEqual(['old.pem']);
  });

  it('takes no certificate off a farm that did not get the new one', async () => {
    const world = worldWith();
    const { run, words, appliance, done } = await given({ 'lb-1': world });
    appliance.fail('POST /farms/{farmname}/certificates', { kind: 'status', status: 200, body: {} });

    const { code, out } = await run(words);

    expect(code).toBe(1);
    expect(out).toContain('shop does not have');
    expect(fileOf(world)).toEqual(['old.pem']);
    expect(out).toMatch(/shop has old\.pem, as before\. \S+ is out of the store again\./);
    expect(await done()).toEqual(['uploadCertificate', 'addFarmCertificate', 'deleteCertificate']);
  });

  it('keeps a certificate on the farm that was there before the run', async () => {
    const world = worldWith();
    const { run, words } = await given({ 'lb-1': world });
    await run(words);
    const [file = ''] = fileOf(world);
    httpsFarm(world, 'shop').certificates = ['old.pem', file];
    httpsFarm(world, 'shop').configError = 'There is no such cipher.';
    httpsFarm(world, 'shop').needsRestart = true;

    const { code } = await run(words);

    expect(code).toBe(1);
    expect(fileOf(world)).toEqual(['old.pem', file]);
  });

  it('skips the remaining farms when the store has a different certificate under the new name', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    const renewed = issue();
    const { run, words } = await given(worlds, renewed);
    await run([...words, '--only=lb-1']);
    const [file = ''] = fileOf(worlds['lb-1']);
    worlds['lb-2'].certificates.set(file, { ...worlds['lb-1'].certificates.get(file)!, pem: issue().cert });

    const { code, out } = await run(words);

    expect(code).toBe(1);
    expect(out).toContain(`${file} in the store is another certificate`);
    expect(fileOf(worlds['lb-2'])).toEqual(['old.pem']);
  });

  it('restores the old certificate to its position among several', async () => {
    const world = worldWith();
    httpsFarm(world, 'shop').certificates.push('intranet.pem');
    httpsFarm(world, 'shop').configError = 'There is no such cipher.';
    const { run, words } = await given({ 'lb-1': world });

    await run(words);

    expect(fileOf(world)).toEqual(['old.pem', 'intranet.pem']);
  });

  it.each([
    ['uploaded', []],
    ['attached', ['old.pem']],
    ['taken off', []],
  ] as const)(
    'is completed by the next run after one that ended when the certificate was %s',
    async (state, before) => {
      const world = worldWith();
      const { run, words } = await given({ 'lb-1': world });
      await run(words);
      const [file = ''] = fileOf(world);
      httpsFarm(world, 'shop').certificates = state === 'uploaded' ? ['old.pem'] : [...before, file];
      httpsFarm(world, 'shop').needsRestart = state !== 'uploaded';

      const { code, err } = await run(words);

      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(fileOf(world)).toEqual([file]);
      expect(httpsFarm(world, 'shop').needsRestart).toBe(false);
    },
  );

  it('changes nothing when the token does not allow every step', async () => {
    const { run, words, done } = await given({ 'lb-1': worldWith() });

    const { code, out } = await run(words, { as: 'operator' });

    expect(code).toBe(1);
    expect(out).toContain('removeFarmCertificate is destructive, which the role operator may not do');
    expect(await done()).toEqual([]);
  });

  it('changes nothing when a guard refuses a step', async () => {
    const world = worldWith();
    const { run, words, done } = await given({ 'lb-1': world });
    const shop = httpsFarm(world, 'shop');
    world.farms.set('thief', { ...structuredClone(shop), name: 'thief', certificates: [], running: true });
    shop.running = true;

    const { code, out } = await run(words);

    expect({ code, sent: await done() }).toEqual({ code: 1, sent: [] });
    expect(out).toContain('The gateway refuses: Restart shop, if the appliance asks for it: ');
  });

  it('changes nothing when a step needs approval', async () => {
    const approvals = { requiredFor: ['destructive'] } as const;
    const { run, words, done, call } = await given({ 'lb-1': worldWith() }, issue(), { approvals });

    const { code, out } = await run(words);

    expect({ code, sent: await done() }).toEqual({ code: 1, sent: [] });
    expect(out).toContain('needs approval');
    expect((await call('GET', '/changes')).json?.changes).toEqual([]);
  });
});

describe('a new certificate', () => {
  it('is refused when it covers fewer names than the current one, unless it is forced with a reason', async () => {
    const world = worldWith(issue({ names: [name, 'pay.example.com'], from: -60 }));
    const { run, words } = await given({ 'lb-1': world });

    const refused = await run(words);
    const unexplained = await run([...words, '--force']);
    const forced = await run([...words, '--force', '--reason=pay moved']);

    expect(refused.code).toBe(1);
    expect(refused.out).toContain('does not cover pay.example.com, which old.pem of shop covers');
    expect(unexplained).toMatchObject({ code: 2, err: '--force needs a reason for the audit: --reason=TEXT' });
    expect(forced.code, forced.err).toBe(0);
    expect(fileOf(world)).toEqual([isNew]);
  });

  it('is refused when it is older than the current one', async () => {
    const world = worldWith(issue({ from: -0.5 }));
    const { run, words, changes } = await given({ 'lb-1': world });

    const { code, out } = await run(words);

    expect(code).toBe(1);
    expect(out).toContain('The certificate is older than old.pem, which shop has');
    expect(changes()).toEqual([]);
  });

  it('never exposes its private key in output, log or audit', async () => {
    const { run, words, logged, audit } = await given({ 'lb-1': worldWith() });

    const { out, err } = await run(words);

    const lines = [out, err, ...logged, JSON.stringify(await audit())].join('\n');
    expect(lines).not.toContain('PRIVATE KEY');
  });
});

describe('the hook of an ACME client', () => {
  it('finds the files of certbot and of lego 4 and 5 in the environment', async () => {
    const world = worldWith();
    const { run, cert, key, folder } = await given({ 'lb-1': world });

    const certbot = await run(['deliver'], { env: { RENEWED_LINEAGE: folder } });
    const lego4 = await run(['deliver'], { env: { LEGO_CERT_PATH: cert, LEGO_CERT_KEY_PATH: key } });
    const ofLego5 = {
      LEGO_HOOK_CERT_NAME: name,
      LEGO_HOOK_CERT_PATH: cert,
      LEGO_HOOK_CERT_KEY_PATH: key,
      LEGO_HOOK_ISSUER_CERT_PATH: `${cert}.issuer`,
    };
    const lego5 = await run(['deliver'], { env: ofLego5 });

    expect(certbot.code, certbot.err).toBe(0);
    expect([lego4.out, lego5.out]).toEqual([
      expect.stringContaining('has it already'),
      expect.stringContaining('has it already'),
    ]);
    expect(fileOf(world)).toEqual([isNew]);
  });

  it('finds the files of acme.sh with the command of docs/admin.md', async () => {
    const world = worldWith();
    const { run, cert, key, folder } = await given({ 'lb-1': world });
    const words = wordsOf('docs/admin.md', 'acme.sh ');
    const after = (flag: string) => words[words.indexOf(flag) + 1] ?? '';
    // It writes these files, and then hands the text to a shell.
    await cp(cert, after('--fullchain-file').replace('/etc/acme', folder));
    await cp(key, after('--key-file').replace('/etc/acme', folder));
    const [program, ...hook] = after('--reloadcmd').replaceAll('/etc/acme', folder).split(' ');

    const { code, err } = await run(hook);

    expect([program, hook[0]]).toEqual(['zlb-exporter', 'deliver']);
    expect(code, err).toBe(0);
    expect(fileOf(world)).toEqual([isNew]);
  });

  it('accepts the arguments of dehydrated, and ignores its other calls', async () => {
    const world = worldWith();
    const { run, cert, key, appliance } = await given({ 'lb-1': world });

    const other = await run(['deliver', '--', 'deploy_challenge', name, '-begins-as-a-flag', 'x']);
    const asked = appliance.requests.length;
    const deployed = await run(['deliver', '--', 'deploy_cert', name, key, cert, cert, cert, '1795303640']);

    expect(other).toMatchObject({ code: 0, out: '', err: '' });
    expect(asked).toBe(0);
    expect(deployed.code, deployed.err).toBe(0);
    expect(fileOf(world)).toEqual([isNew]);
  });
});
