import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { X509Certificate } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../bench/free-port.ts';
import { createCertificate } from '../../simulator/certificate.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { certificate } from '../../simulator/world-parts.ts';
import type { World } from '../../simulator/world.ts';
import { givenAdminCli } from '../integration/admin-cli/given-admin-cli.ts';
import { isThere } from '../support/programs.ts';
import { servedCertificate } from '../support/simulated-farms.ts';
import { makeMaterial } from '../support/tls-server.ts';
import { until } from '../support/until.ts';

const dayMs = 86_400_000;
const lifeDays = 45;
const name = 'shop.example.com';
const run = promisify(execFile);

/** A world whose farm `shop` has a certificate for the name that ends in 15 days. */
function worldBeforeRenewal(): World {
  const world = busyWorld();
  const { cert } = createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(Date.now() - 30 * dayMs),
    notAfter: new Date(Date.now() + 15 * dayMs),
  });
  world.certificates.set(
    'old.pem',
    certificate('old.pem', {
      commonName: name,
      notBefore: Date.now() - 30 * dayMs,
      notAfter: Date.now() + 15 * dayMs,
      pem: cert,
    }),
  );
  shopOf(world).certificates = ['old.pem'];
  return world;
}

function shopOf(world: World) {
  const shop = world.farms.get('shop');
  if (shop?.profile !== 'http') throw new Error('shop is no HTTP farm');
  return shop;
}

/** An authority that issues certificates of 45 days and believes every challenge. */
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
    certificateValidityPeriod: (lifeDays * dayMs) / 1_000,
  };
  const config = join(folder, 'pebble.json');
  writeFileSync(config, JSON.stringify({ pebble }));
  const authority = spawn('pebble', ['-config', config], {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_VA_ALWAYS_VALID: '1', PEBBLE_WFE_NONCEREJECT: '0' },
    stdio: 'ignore',
  });
  onTestFinished(() => void authority.kill());
  const url = `https://localhost:${port}/dir`;
  await until(
    () =>
      run('curl', ['-s', '--cacert', ca, url]).then(
        ({ stdout }) => stdout,
        () => '',
      ),
    (text) => text.includes('newOrder'),
  );
  return { url, ca };
}

/** The command with which the documents call `deliver`, by the words before it. */
function documented(before: string): string {
  const [, command] = readFileSync('docs/admin.md', 'utf8').split(before);
  return /^(['`])(.+?)\1/s.exec(command ?? '')?.[2] ?? '';
}

async function given() {
  const worlds = { 'lb-1': worldBeforeRenewal(), 'lb-2': worldBeforeRenewal() };
  const cli = await givenAdminCli(worlds, {
    vip: (appliances, appliance) => ({
      networks: ['192.0.2.0/24', '127.0.0.1'],
      connect_to: appliances.get(appliance)?.farms?.addresses,
    }),
  });
  const { url, ca } = await startAuthority(cli.folder);
  const program = `#!/bin/sh\nexec ${process.execPath} ${process.cwd()}/src/main.ts "$@"\n`;
  mkdirSync(join(cli.folder, 'bin'));
  writeFileSync(join(cli.folder, 'bin/zlb-exporter'), program, { mode: 0o755 });
  const env = {
    ...process.env,
    PATH: `${cli.folder}/bin:${process.env['PATH']}`,
    ZLB_ADMIN_URL: cli.url,
    ZLB_ADMIN_TOKEN: cli.tokenOf('admin'),
  };
  const served = (): Promise<readonly X509Certificate[]> =>
    Promise.all([...cli.appliances.values()].map((appliance) => servedCertificate(appliance, '192.0.2.40:443', name)));
  return { ...cli, worlds, url, ca, env, served };
}

function expectDelivered(served: readonly X509Certificate[], issued: X509Certificate): void {
  expect(served.map(({ serialNumber }) => serialNumber)).toEqual(served.map(() => issued.serialNumber));
  expect((issued.validToDate.getTime() - issued.validFromDate.getTime()) / dayMs).toBeCloseTo(lifeDays, 1);
}

describe.skipIf(!isThere('pebble'))('a certificate of an ACME authority', () => {
  it.skipIf(!isThere('lego'))(
    'reaches every farm by lego, and so does its renewal',
    async () => {
      const { folder, url, ca, env, worlds, served, audit } = await given();
      const lego = async (...words: readonly string[]) =>
        await run(
          'lego',
          [
            `--server=${url}`,
            '--email=ops@example.com',
            '--accept-tos',
            `--path=${folder}/lego`,
            `--domains=${name}`,
            '--http',
            `--http.port=127.0.0.1:${await freePort()}`,
            ...words,
          ],
          { env: { ...env, LEGO_CA_CERTIFICATES: ca } },
        );
      const issued = () => new X509Certificate(readFileSync(`${folder}/lego/certificates/${name}.crt`));

      const hook = documented('--renew-hook ');
      await lego('run', `--run-hook=${hook}`);
      const first = issued();
      expectDelivered(await served(), first);
      await lego('renew', '--no-random-sleep', `--days=${lifeDays + 1}`, `--renew-hook=${hook}`);

      expect(issued().serialNumber).not.toBe(first.serialNumber);
      expectDelivered(await served(), issued());
      for (const world of Object.values(worlds)) expect(shopOf(world)).toMatchObject({ needsRestart: false });
      const events = (await audit()).filter(({ operation }) => operation === 'addFarmCertificate');
      const written = events.map(({ event }) => event).filter((event) => event !== 'dry_run');
      expect(written).toEqual(Array.from({ length: 4 }, () => ['intent', 'outcome']).flat());
    },
    120_000,
  );

  it.skipIf(!isThere('certbot'))(
    'reaches every farm by certbot, and so does its renewal',
    async () => {
      const { folder, url, ca, env, served } = await given();
      const home = join(folder, 'certbot');
      mkdirSync(home);
      const folders = ['config', 'work', 'logs'].map((each) => `--${each}-dir=${home}/${each}`);
      const certbot = async (...words: readonly string[]) =>
        await run('certbot', [...words, '--non-interactive', ...folders], { env: { ...env, REQUESTS_CA_BUNDLE: ca } });
      const issued = () => new X509Certificate(readFileSync(`${home}/config/live/${name}/fullchain.pem`));

      await certbot(
        'certonly',
        '--standalone',
        `--http-01-port=${await freePort()}`,
        `--server=${url}`,
        '--agree-tos',
        '--email=ops@example.com',
        '--key-type=ecdsa',
        `--domain=${name}`,
        `--deploy-hook=${documented('--deploy-hook ')}`,
      );
      const first = issued();
      expectDelivered(await served(), first);
      await certbot('renew', '--force-renewal', '--no-random-sleep-on-renew');

      expect(issued().serialNumber).not.toBe(first.serialNumber);
      expectDelivered(await served(), issued());
    },
    120_000,
  );

  it.skipIf(!isThere('dehydrated'))(
    'reaches every farm by dehydrated, and so does its renewal',
    async () => {
      const { folder, url, ca, env, served } = await given();
      const home = join(folder, 'dehydrated');
      mkdirSync(join(home, 'challenges'), { recursive: true });
      const hook = `#!/bin/sh\n${documented('The hook script of dehydrated is ')}\n`;
      writeFileSync(join(home, 'hook.sh'), hook, { mode: 0o755 });
      const settings = {
        CA: url,
        CURL_OPTS: `--cacert ${ca}`,
        BASEDIR: home,
        WELLKNOWN: `${home}/challenges`,
        HOOK: `${home}/hook.sh`,
      };
      const lines = Object.entries(settings).map(([key, value]) => `${key}="${value}"\n`);
      writeFileSync(join(home, 'config'), lines.join(''));
      const dehydrated = (...words: readonly string[]) =>
        run('dehydrated', ['--config', `${home}/config`, ...words], { env });
      const issued = () => new X509Certificate(readFileSync(`${home}/certs/${name}/fullchain.pem`));

      await dehydrated('--register', '--accept-terms');
      await dehydrated('--cron', '--domain', name);
      const first = issued();
      expectDelivered(await served(), first);
      await dehydrated('--cron', '--domain', name, '--force');

      expect(issued().serialNumber).not.toBe(first.serialNumber);
      expectDelivered(await served(), issued());
    },
    120_000,
  );
});

it('a certificate reaches every farm by the reload command of acme.sh, run here as acme.sh runs it', async () => {
  const { folder, env, served } = await given();
  const { key, cert } = createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + (lifeDays - 1) * dayMs),
  });
  writeFileSync(join(folder, 'full.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const command = documented('--reloadcmd ').replaceAll('/etc/acme', folder);

  await run('sh', ['-c', '(cd / && eval "$RELOAD")'], { env: { ...env, Le_Domain: name, RELOAD: command } });

  expectDelivered(await served(), new X509Certificate(cert));
});
