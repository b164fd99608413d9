import { execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { givenAdminCli } from '../integration/admin-cli/given-admin-cli.ts';
import { fileOf, isNew, worldWith } from '../integration/deliver/given-deliver.ts';
import { issue, name } from '../support/issue.ts';
import { isThere } from '../support/programs.ts';
import { makeMaterial } from '../support/tls-server.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

/** An authority that believes every challenge; resolves to its address and its certificate. */
async function startAuthority(folder: string): Promise<{ readonly url: string; readonly ca: string }> {
  const { cert, key } = makeMaterial({ name: 'localhost' });
  const [ca, keyFile] = [join(folder, 'ca.pem'), join(folder, 'ca.key')];
  writeFileSync(ca, cert);
  writeFileSync(keyFile, key);
  const port = await freePort();
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${await freePort()}`,
    certificate: ca,
    privateKey: keyFile,
    httpPort: await freePort(),
    tlsPort: await freePort(),
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    certificateValidityPeriod: 45 * 86_400,
  };
  const config = join(folder, 'pebble.json');
  writeFileSync(config, JSON.stringify({ pebble }));
  const authority = spawn('pebble', ['-config', config], {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_VA_ALWAYS_VALID: '1', PEBBLE_WFE_NONCEREJECT: '0' },
    stdio: 'ignore',
  });
  onTestFinished(() => void authority.kill());
  const url = `https://localhost:${port}/dir`;
  const ask = () => run('curl', ['-s', '--cacert', ca, url]).catch(() => ({ stdout: '' }));
  await until(ask, ({ stdout }) => stdout.includes('newOrder'));
  return { url, ca };
}

it.skipIf(!['pebble', 'certbot'].every(isThere))(
  'certbot, with its defaults, reaches a farm with an RSA key once it is asked for an RSA key',
  async () => {
    const world = worldWith(issue({ from: -60, until: 15, rsa: true }));
    const cli = await givenAdminCli({ 'lb-1': world });
    const { url, ca } = await startAuthority(cli.folder);
    const program = `#!/bin/sh\nexec ${process.execPath} ${process.cwd()}/src/main.ts "$@"\n`;
    mkdirSync(join(cli.folder, 'bin'));
    writeFileSync(join(cli.folder, 'bin/zlb-exporter'), program, { mode: 0o755 });
    const env = {
      ...process.env,
      PATH: `${cli.folder}/bin:${process.env['PATH']}`,
      ZLB_ADMIN_URL: cli.url,
      ZLB_ADMIN_TOKEN: cli.tokenOf('admin'),
      REQUESTS_CA_BUNDLE: ca,
    };
    const folders = ['config', 'work', 'logs'].map((each) => `--${each}-dir=${cli.folder}/${each}`);
    const certbot = (...words: readonly string[]) =>
      run('certbot', [...words, '--non-interactive', ...folders], { env });
    const [, hook = ''] = /--deploy-hook '(.+?)'/.exec(readFileSync('docs/admin.md', 'utf8')) ?? [];

    const port = await freePort();
    const account = [`--server=${url}`, '--agree-tos', '--email=ops@example.com', `--deploy-hook=${hook}`];
    const first = await certbot('certonly', '--standalone', `--http-01-port=${port}`, ...account, `--domain=${name}`);
    const before = [...fileOf(world)];
    await certbot('renew', '--force-renewal', '--no-random-sleep-on-renew', '--key-type=rsa');

    expect(first.stderr).toContain('the key of old.pem is RSA, and the key of the new certificate is ECDSA');
    expect(before).toEqual(['old.pem']);
    expect(fileOf(world)).toEqual([isNew]);
    const issued = new X509Certificate(readFileSync(`${cli.folder}/config/live/${name}/fullchain.pem`));
    const stored = world.certificates.get(fileOf(world)[0] ?? '')?.pem ?? '';
    expect(new X509Certificate(stored).serialNumber).toBe(issued.serialNumber);
  },
);
