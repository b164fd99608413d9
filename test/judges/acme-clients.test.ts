import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenAdminCli } from '../integration/admin-cli/given-admin-cli.ts';
import { fileOf, isNew, worldWith } from '../integration/deliver/given-deliver.ts';
import { wordsOf } from '../support/documented-command.ts';
import { freePort } from '../support/free-port.ts';
import { issue, name } from '../support/issue.ts';
import { makeMaterial } from '../support/tls-server.ts';
import { until } from '../support/until.ts';
import { judge, succeeds } from './tools.ts';

const pebble = judge('pebble');

/** An authority that believes every challenge; resolves to its address and its certificate. */
async function startAuthority(folder: string): Promise<{ readonly url: string; readonly ca: string }> {
  const { cert, key } = makeMaterial({ name: 'localhost' });
  const [ca, keyFile] = [join(folder, 'ca.pem'), join(folder, 'ca.key')];
  writeFileSync(ca, cert);
  writeFileSync(keyFile, key);
  const [port, management] = [await freePort(), await freePort()];
  const settings = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: ca,
    privateKey: keyFile,
    httpPort: await freePort(),
    tlsPort: await freePort(),
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    certificateValidityPeriod: 45 * 86_400,
  };
  const config = join(folder, 'pebble.json');
  writeFileSync(config, JSON.stringify({ pebble: settings }));
  const authority = spawn(pebble ?? '', ['-config', config], {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_VA_ALWAYS_VALID: '1', PEBBLE_WFE_NONCEREJECT: '0' },
    stdio: 'ignore',
  });
  onTestFinished(() => void authority.kill());
  const ask = (url: string) => succeeds('curl', ['-s', '--cacert', ca, url]).catch(() => '');
  const url = `https://localhost:${port}/dir`;
  await until(
    () => ask(url),
    (directory) => directory.includes('newOrder'),
  );
  // As an authority whose root is in the store of the machine.
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, await ask(`https://localhost:${management}/roots/0`)]);
  onTestFinished(() => setDefaultCACertificates(before));
  return { url, ca };
}

/** A farm whose certificate ends soon, the command, and an authority. */
async function given() {
  const world = worldWith(issue({ from: -60, until: 15, rsa: true }));
  const cli = await givenAdminCli({ 'lb-1': world });
  const { folder } = cli;
  const { url, ca } = await startAuthority(folder);
  mkdirSync(join(folder, 'bin'));
  const program = `#!/bin/sh\nexec ${process.execPath} ${process.cwd()}/src/main.ts "$@"\n`;
  writeFileSync(join(folder, 'bin/zlb-exporter'), program, { mode: 0o755 });
  const env = {
    ...process.env,
    PATH: `${folder}/bin:${process.env['PATH']}`,
    ZLB_ADMIN_URL: cli.url,
    ZLB_ADMIN_TOKEN: cli.tokenOf('admin'),
    REQUESTS_CA_BUNDLE: ca,
    LEGO_CA_CERTIFICATES: ca,
  };
  return {
    url,
    ca,
    folder,
    run: (client: string, words: readonly string[]) => succeeds(client, words, { env, cwd: folder }),
    files: () => fileOf(world),
    /** Whether the farm has the first certificate of a file. */
    hasCertificateIn: (path: string) =>
      new X509Certificate(world.certificates.get(fileOf(world)[0] ?? '')?.pem ?? '').fingerprint256 ===
      new X509Certificate(readFileSync(join(folder, path))).fingerprint256,
  };
}

/** Both releases answer challenges, though the authority asks for none. */
const http = async (flag: string) => ['--http', `--http.${flag}=127.0.0.1:${await freePort()}`];

describe.skipIf(!pebble)('the hook of docs/admin.md', () => {
  for (const version of ['certbot', 'certbot-4', 'certbot-5']) {
    const certbot = judge(version);
    it.skipIf(!certbot)(`works with ${version}, once it requests a key of the old type`, async () => {
      const { url, folder, run, files, hasCertificateIn } = await given();
      const folders = ['config', 'work', 'logs'].map((each) => `--${each}-dir=${folder}/${each}`);
      const account = [`--server=${url}`, '--agree-tos', '--email=ops@example.com', ...folders];
      const [, ...words] = wordsOf('docs/admin.md', 'certbot ');
      const ask = (...more: readonly string[]) => run(certbot ?? '', [...more, '--non-interactive', ...folders]);

      await ask('certonly', '--standalone', `--http-01-port=${await freePort()}`, ...account, `--domain=${name}`);
      // Its own default is ECDSA: the hook fails, and certbot only says so.
      await ask(...words, '--force-renewal', '--no-random-sleep-on-renew');
      const before = [...files()];
      await ask(...words, '--force-renewal', '--no-random-sleep-on-renew', '--key-type=rsa');

      expect(before).toEqual(['old.pem']);
      expect(files()).toEqual([isNew]);
      expect(hasCertificateIn(`config/live/${name}/fullchain.pem`)).toBe(true);
    });
  }

  const lego4 = judge('lego');
  it.skipIf(!lego4)('works with lego 4', async () => {
    const { url, folder, run, files, hasCertificateIn } = await given();
    const account = [`--server=${url}`, '--accept-tos', '--email=ops@example.com', `--path=${folder}/lego`];
    const [, ...words] = wordsOf('docs/admin.md', 'lego --');

    await run(lego4 ?? '', [...account, ...(await http('port')), '--key-type=rsa2048', `--domains=${name}`, 'run']);
    const before = [...files()];
    await run(lego4 ?? '', [
      ...account,
      ...(await http('port')),
      '--key-type=rsa2048',
      ...words,
      '--days=999',
      '--no-random-sleep',
    ]);

    expect(before).toEqual(['old.pem']);
    expect(files()).toEqual([isNew]);
    expect(hasCertificateIn(`lego/certificates/${name}.crt`)).toBe(true);
  });

  const lego5 = judge('lego-5');
  it.skipIf(!lego5)('works with lego 5', async () => {
    const { url, folder, run, files, hasCertificateIn } = await given();
    const [, ...words] = wordsOf('docs/admin.md', 'lego run ');
    const account = [`--server=${url}`, '--accept-tos', '--email=ops@example.com', `--path=${folder}/lego`];

    await run(lego5 ?? '', [...words, ...account, ...(await http('address')), '--key-type=RSA2048']);

    expect(files()).toEqual([isNew]);
    expect(hasCertificateIn(`lego/certificates/${name}.crt`)).toBe(true);
  });

  const dehydrated = judge('dehydrated');
  it.skipIf(!dehydrated)('works with dehydrated, and ignores its other hook calls', async () => {
    const { url, ca, folder, run, files, hasCertificateIn } = await given();
    const [, line = ''] = /hook script of dehydrated is `(.+?)`/.exec(readFileSync('docs/admin.md', 'utf8')) ?? [];
    const [hook, config] = [join(folder, 'hook.sh'), join(folder, 'dehydrated/config')];
    mkdirSync(join(dirname(config), 'challenges'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    const settings = { CA: url, BASEDIR: dirname(config), WELLKNOWN: `${dirname(config)}/challenges`, HOOK: hook };
    const lines = Object.entries({ ...settings, CURL_OPTS: `"--cacert ${ca}"`, KEY_ALGO: 'rsa' });
    writeFileSync(config, lines.map(([key, value]) => `${key}=${value}\n`).join(''));

    await run(dehydrated ?? '', ['--config', config, '--register', '--accept-terms']);
    await run(dehydrated ?? '', ['--config', config, '--cron', '--domain', name]);

    expect(files()).toEqual([isNew]);
    expect(hasCertificateIn(`dehydrated/certs/${name}/fullchain.pem`)).toBe(true);
  });
});
