import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld } from '../../simulator/scenes/expiring.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { createCertificate } from '../../simulator/certificate.ts';
import { httpBackend, httpFarm, l4Farm, service } from '../../simulator/world-parts.ts';
import {
  type SimulatedAppliance,
  type SimulatedApplianceOptions,
  startSimulatedAppliance,
} from '../../simulator/server.ts';
import { startL4Daemon } from '../../simulator/l4-daemon.ts';
import { farmStatus, farmsWithoutTcp } from '../../simulator/world-farms.ts';
import type { World } from '../../simulator/world.ts';
import { givenContext } from '../unit/commands/given-command.ts';
import { HistoryDatabase } from '../../src/history/database.ts';
import { collectorDefaults } from '../../src/collectors/registry.ts';
import { watchConnections } from '../support/connections.ts';
import { givenFolder } from '../support/folder.ts';
import { canActAsOthers } from '../support/programs.ts';
import { tlsMaterialOf } from '../../simulator/tls.ts';
import { listening } from '../support/listening.ts';
import { makeMaterial, startHttpsServer, startTlsServer } from '../support/tls-server.ts';

const apiKey = 'canarykey';

async function givenAppliance(world: World = recordedWorld(), options: Partial<SimulatedApplianceOptions> = {}) {
  const appliance = await startSimulatedAppliance({ world, apiKey, ...options });
  onTestFinished(() => appliance.close());
  const { url, fingerprintSha256 } = appliance;
  const entry = { name: 'lb-1', url, api_key: apiKey, tls: { fingerprint_sha256: fingerprintSha256 } };
  return { appliance, entry };
}

/** Runs the command on a configuration with these appliances; what is said ends in one text. */
async function check(
  appliances: readonly object[],
  more: object = {},
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
) {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  // Others may read it, as what is in /etc.
  await chmod(folder, 0o755);
  // A slow machine would make the cost of polling a finding.
  await writeFile(file, JSON.stringify({ appliances, polling: { max_busy_ratio: 1 }, ...more }), { mode: 0o644 });
  const { context, said, warned, written } = givenContext({ env });
  const code = await runCommandLine(['check', `--config.file=${file}`, ...flags], context);
  const out = said.join('\n') + Buffer.concat(written).toString();
  expect(out + warned.join('\n')).not.toContain(apiKey);
  return { code, out, warned, diagnosis: /Diagnosis +(.*)/.exec(out)?.[1], folder };
}

/** Listens without TLS on a port of this machine. */
async function givenListener(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A self-signed certificate of RSA. */
function certificateOf({ bits = 2_048, fromDays = -1 }: { readonly bits?: number; readonly fromDays?: number }) {
  const dayMs = 86_400_000;
  return createCertificate({
    subject: { CN: 'appliance' },
    altNames: ['IP:127.0.0.1'],
    notBefore: new Date(Date.now() + fromDays * dayMs),
    notAfter: new Date(Date.now() + 30 * dayMs),
    key: generateKeyPairSync('rsa', { modulusLength: bits }).privateKey,
  });
}

/** Listens with TLS of any age and strength. */
async function givenTlsListener(options: TlsOptions): Promise<number> {
  const server = createTlsServer({ minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0', ...options }, (socket) =>
    socket.on('error', () => undefined),
  );
  return await listening(server);
}

/** The diagnosis with findings and remedies, without the facts above. */
const findings = (out: string): string => out.slice(out.indexOf('Diagnosis')).split('\n\n')[0] ?? '';

// Root can give away a process, and its own permissions hide what others cannot read.
describe.skipIf(!canActAsOthers())('check of a key that the service user cannot read', () => {
  /** Checks as another user; returns what is wrong with the key. */
  async function keyProblem(uid: number, env: Readonly<Record<string, string>>, modeOfFolder = 0o755) {
    const folder = givenFolder();
    const [file, keyFile] = [join(folder, 'zlb.yml'), join(folder, 'keys/a.key')];
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'keys'), { mode: modeOfFolder });
    await writeFile(file, 'appliances: [{ name: a, url: https://127.0.0.1:1, api_key_file: keys/a.key }]');
    await chmod(file, 0o644);
    await writeFile(keyFile, apiKey, { mode: 0o600 });
    const words = ['src/main.ts', 'check', `--config.file=${file}`];
    const { status, stderr } = spawnSync(process.execPath, words, { uid, env, encoding: 'utf8' });
    expect(status).toBe(2);
    return { keyFile, problem: /cannot be read: (.*)/.exec(stderr)?.[1] };
  }

  it.each([
    ['its name', 'nobody', 65_534, {}],
    ['its number if it has no name', '61000', 61_000, {}],
  ])('names the user by %s, and one remedy', async (_, name, uid, env) => {
    const { keyFile, problem } = await keyProblem(uid, env);

    expect(problem).toBe(
      `user ${name} may not read ${keyFile}; if the exporter runs as ${name}: chown ${name} ${keyFile}`,
    );
  });

  it('advises a systemd credential when the user exists only while its service runs', async () => {
    const { keyFile, problem } = await keyProblem(61_000, { USER: 'zlb-exporter' });

    expect(problem).toBe(
      `user zlb-exporter may not read ${keyFile}; put it into /etc/zlb-exporter/keys, run install.sh again, and name it /run/credentials/zlb-exporter.service/a.key`,
    );
  });

  it('advises to move the key when the user cannot enter its folder', async () => {
    const { problem } = await keyProblem(65_534, {}, 0o700);

    expect(problem).toBe(
      'user nobody may not enter a folder on its path; if the exporter runs as nobody: move it where user nobody may read',
    );
  });
});

describe('the report of check', () => {
  it('shows how a healthy appliance was reached and trusted, what is polled and its cost', async () => {
    const [world] = healthyPair();
    const { appliance, entry } = await givenAppliance(world, { latency: () => 0.01 });

    const { code, out, diagnosis, warned } = await check([entry]);

    expect({ code, warned }).toEqual({ code: 0, warned: [] });
    expect(diagnosis).toBe('healthy; it can be polled as configured');
    expect(out).toMatch(/^lb-1 {2}ok {6}reachable, certificate pinned, key accepted · relianoid 8\.4\.0 enterprise /m);
    expect(out).toMatch(/^ {4}Reached {5}127\.0\.0\.1:\d+, \d+ calls, [\d.]+m?s each$/m);
    expect(out).toMatch(/^ {4}TLS {9}the pinned certificate; for .+, valid to \d{4}-\d\d-\d\d \([\d,]+ days left\)$/m);
    expect(out).toMatch(/^ {4}Key {9}accepted, sent as ZAPI_KEY and API_KEY$/m);
    expect(out).toMatch(/^ {4}Product {5}relianoid 8\.4\.0 enterprise$/m);
    expect(out).toMatch(/^ {4}Clock {7}agrees with this machine$/m);
    expect(out).toMatch(/^ {4}Polled {6}farms, appliance, activation, /m);
    expect(out).toMatch(/^ {4}Cost {8}about \d+ calls a minute, [\d.]+ % of its time; at most 100 % is taken$/m);
    expect(out).toMatch(/\n1 appliance can be polled as configured\.$/);
    expect(appliance.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('says once that only the vip collector detects a dead L4 daemon, where vip is off', async () => {
    const given = await Promise.all([1, 2].map(() => givenAppliance(recordedWorld(), { farmsListen: true })));
    const entries = given.map(({ entry }, index) => ({ ...entry, name: `lb-${index + 1}` }));
    const withVip = (enabled: boolean) => entries.map((entry) => ({ ...entry, collectors: { vip: { enabled } } }));

    const off = await check(withVip(false));
    const on = await check(withVip(true));
    const unset = await check(entries);

    expect(off.out.match(/The collector vip is off, .*/g)).toEqual([
      'The collector vip is off, and only it shows that the daemon of L4 farms has died, or was started without them: the appliance reports such farms as up. To switch it on for them, remove collectors.vip.enabled. Affected: lb-1, lb-2.',
    ]);
    expect(on.out + unset.out).not.toContain('The collector vip is off');
  });

  it('names the L4 farms that will be probed by default, and connects to none', async () => {
    const { entry } = await givenAppliance();
    const connections = watchConnections();

    const { out } = await check([entry]);

    expect(out).toMatch(
      /^ {4}To probe {4}L4 farms, by a TCP connection each: db-l4 192\.168\.101\.22:5432, .*; to switch it off: collectors: \{ vip: \{ enabled: false \} \}$/m,
    );
    expect(out).not.toContain('Probed');
    expect(connections.tried().filter((each) => !each.startsWith('127.'))).toEqual([]);
  });

  const broken = { kind: 'status', status: 500, body: { message: 'broken' } } as const;
  it.each<readonly [what: string, fail: (appliance: SimulatedAppliance) => void, text: RegExp]>([
    [
      'a response that makes no sense',
      ({ fail }) => fail('GET /certificates', { kind: 'status', status: 200, body: 7 }),
      /This release answers in an unknown way: report it/,
    ],
    ['a call that fails', ({ fail }) => fail('GET /certificates', broken), /Polling tries again each time\./],
    [
      'farms that cannot be read',
      ({ fail }) =>
        ['GET /farms', 'GET /stats/farms', 'GET /farms/modules/summary'].forEach((route) => fail(route, broken)),
      /Its farms cannot be read, so nothing is known of its services: /,
    ],
    [
      'an appliance without a licence',
      ({ world }) => void (world.activation = deactivatedWorld().activation),
      /It is deactivated: .*\n *Install one in its web interface\./,
    ],
  ])('states a remedy for %s', async (_, fail, text) => {
    const { appliance, entry } = await givenAppliance(busyWorld());
    fail(appliance);

    const { out } = await check([entry]);

    expect(findings(out)).toMatch(text);
  });

  it('says of a configuration without collectors that nothing was requested, and what to enable', async () => {
    const { appliance, entry } = await givenAppliance();
    const collectors = Object.fromEntries([...collectorDefaults.keys()].map((name) => [name, { enabled: false }]));

    const { out, code } = await check([{ ...entry, collectors }]);

    expect(code).toBe(1);
    expect(appliance.requests).toEqual([]);
    expect(findings(out)).toMatch(
      /No collector that asks it is enabled: .*\n.*\n {11}collectors: \{ farms: \{ enabled/,
    );
    expect(out).not.toMatch(/Something answers|gave no answer/);
  });

  it('names a hung proxy, and does not count its delays as the cost of polling', async () => {
    const { appliance, entry } = await givenAppliance(recordedWorld(), { farmsListen: true });
    appliance.world.farms.get('secure-shop')!.runState = 'hung';
    const vip = { connect_to: appliance.farms?.addresses, networks: ['192.0.2.0/24', '192.168.0.0/16', '127.0.0.1'] };

    const { out, code } = await check([{ ...entry, vip, collectors: { vip: { enabled: true } } }]);

    expect(code).toBe(0);
    expect(findings(out)).toContain('The proxy of farm secure-shop does not answer. ');
    expect(findings(out)).not.toMatch(/secure-shop is critical|less often/);
    expect(out).toMatch(/ Probed .*; accepted, and no answer from the proxy: secure-shop 192/);
    expect(out).toMatch(/ Reached .*, [1-9]\d\dms each$/m);
  });

  it('quotes a farm name, which the appliance chooses, in a command to copy', async () => {
    const world = recordedWorld();
    const name = 'a; reboot #';
    world.farms.set(name, l4Farm({ name, vip: '192.0.2.9', vport: '80' }));
    const { entry } = await givenAppliance(world);
    const vip = { connect_to: { '192.0.2.9': '127.0.0.1:1' }, networks: ['192.0.2.0/24', '127.0.0.1'], udp_farms: [] };
    const admin = { tokens: [{ name: 'alice', sha256: 'ab'.repeat(32), role: 'admin' }] };

    const { out } = await check([{ ...entry, vip, collectors: { vip: { enabled: true } } }], { admin });

    expect(findings(out)).toContain(" zlb-exporter admin lb-1 restart-farm farm='a; reboot #' --reason=TEXT\n");
  });

  it('names the dead daemon of L4 farms that refuse connections, and how to stop and start each farm', async () => {
    const world = recordedWorld();
    const { appliance, entry } = await givenAppliance(world, { farmsListen: true });
    startL4Daemon(world);
    await appliance.farms?.follow();
    const networks = ['192.0.2.0/24', '192.168.0.0/16', '127.0.0.1'];
    const vip = { connect_to: appliance.farms?.addresses, networks, udp_farms: farmsWithoutTcp(world.farms.values()) };
    const probed = [{ ...entry, vip, collectors: { vip: { enabled: true } } }];

    const { out } = await check(probed);

    expect(findings(out)).toMatch(
      /From here, db-l4 at .*, multi-l4 at .* refuse connections, and the appliance does not report them as down\.\n +Their daemon nftlb may have been started without them: stop and start each L4 farm,/,
    );
    expect(findings(out)).not.toContain('no connection can be made to db-l4');
  });

  it('omits an unknown product, and does not promise states that it will not read', async () => {
    const world = recordedWorld();
    const { entry } = await givenAppliance(world);

    const { out } = await check([{ ...entry, collectors: { appliance: { enabled: false } } }]);

    expect(out).not.toMatch(/product unknown|release unknown|edition unknown|not read yet/);
  });

  it('probes once what the vip collector will connect to, and says what it must not connect to', async () => {
    const [world] = healthyPair();
    const { appliance, entry } = await givenAppliance(world, { farmsListen: true });
    world.farms.set('gone', httpFarm({ name: 'gone', vip: '192.0.2.30', vport: '80' }));
    world.farms.set('lie', httpFarm({ name: 'lie', vip: '127.0.0.2', vport: '22' }));
    const connectTo = { ...appliance.farms?.addresses, '192.0.2.30:80': '127.0.0.1:9' };
    const vip = { connect_to: connectTo, networks: ['192.0.2.0/24', '127.0.0.1'] };
    const entryWithVip = { ...entry, vip, collectors: { vip: { enabled: true } } };

    const { out, code } = await check([entryWithVip]);
    const { appliances } = JSON.parse((await check([entryWithVip], {}, {}, ['--json'])).out) as {
      appliances: readonly Record<string, unknown>[];
    };

    expect(code).toBe(0);
    expect(out).toMatch(/^ {4}Probed {6}\d farms? can be reached from here: .*www 192\.0\.2\.20:443 \(connect_to 127/m);
    expect(findings(out)).toMatch(/may not connect to lie at 127\.0\.0\.2:22: .*\n.*\n {11}vip: \{ networks/);
    expect(findings(out)).toMatch(
      /no connection can be made to gone at 192\.0\.2\.30:80 \(connect_to 127\.0\.0\.1:9\)/,
    );
    expect(appliances[0]?.['probes']).toEqual(
      expect.arrayContaining([
        { farm: 'www', address: expect.stringContaining('192.0.2.20:443') as unknown, reachable: true, failure: null },
        { farm: 'lie', address: '127.0.0.2:22', reachable: null, failure: 'not_allowed' },
      ]),
    );
  });

  it('names the backends that are down, and the farms whose backends it does not read', async () => {
    const [world] = healthyPair();
    const { appliance, entry } = await givenAppliance(world);
    for (let index = 10; index < 30; index += 1) {
      const backends = [httpBackend(0, `10.20.0.${index}`, 80, { status: 'down' }), httpBackend(1, '10.20.0.9', 80)];
      const parts = { vip: '192.0.2.40', vport: String(index), services: [service('front', { backends })] };
      world.farms.set(`farm-${index}`, httpFarm({ name: `farm-${index}`, ...parts }));
    }

    const { out, code } = await check([entry]);

    expect(code).toBe(0);
    const named = findings(out).match(/Backend 10\.20\.0\.\d+:80 of service front of farm farm-\d+ is down\./g) ?? [];
    expect(named.length).toBeGreaterThanOrEqual(9);
    expect(findings(out)).toContain('Backend 10.20.0.10:80 of service front of farm farm-10 is down.');
    expect(findings(out)).toMatch(
      /Some backends of farm-\d\d, farm-\d\d, farm-\d\d, farm-\d\d and \d+ more are down\. .*\n.*runbook of ZlbBackendDown/,
    );
    expect(findings(out).match(/Some backends of/g)).toHaveLength(1);
    const states = appliance.requests.filter(({ route }) => route === 'GET /stats/farms/{farmname}');
    expect(states).toHaveLength(10);
  });

  it('makes each call once, and calls per farm for one farm only', async () => {
    const world = busyWorld();
    // The backends of those would be named.
    for (const [name, farm] of world.farms)
      if (['problem', 'critical'].includes(String(farmStatus(farm)))) world.farms.delete(name);
    const { appliance, entry } = await givenAppliance(world);

    await check([entry]);

    const routes = appliance.requests.map(({ route }) => route);
    expect(routes.filter((route) => route === 'GET /stats/farms/{farmname}')).toHaveLength(1);
    expect(routes.filter((route) => route === 'GET /stats/farms')).toHaveLength(1);
    expect(routes.length).toBeLessThan(30);
  });

  it.each([
    {
      fault: 'another certificate than the pinned one',
      change: { tls: { fingerprint_sha256: '0'.repeat(64) } },
      line: /^lb-1 {2}FAILED {2}.*fingerprint/m,
      finds: /not the pinned one: its fingerprint is [0-9a-f]{64}\./,
      remedy:
        /^ {11}tls: \{ fingerprint_sha256: '[0-9a-f]{64}' \}\n.*prints the same fingerprint:\n {11}openssl s_client -connect 127\.0\.0\.1:\d+ .*\n.*somebody is in between\. The key was not sent\./m,
    },
    {
      fault: 'a certificate that is not trusted',
      change: { tls: {} },
      line: /^lb-1 {2}FAILED {2}.*self-signed/m,
      finds: /issued by itself, which this machine does not trust/,
      remedy: /ca_file: PATH \}, or pin it:\n {11}tls: \{ fingerprint_sha256: '[0-9a-f]{64}' \}\n/,
    },
    {
      fault: 'a key that is refused',
      change: { api_key: 'f1x7ure' },
      line: /^lb-1 {2}FAILED {2}reachable, but the key is refused \(.*401/m,
      finds: /The key is refused: it is mistyped, was replaced or expired, or its user is disabled\./,
      remedy: /Make a key for an enabled API user .* api_key_file/,
    },
    {
      fault: 'a closed port',
      change: { url: 'https://127.0.0.1:1' },
      line: /^lb-1 {2}FAILED {2}.*ECONNREFUSED/m,
      finds: /Nothing accepts connections on 127\.0\.0\.1:1\./,
      remedy: /^ {11}curl -kv https:\/\/127\.0\.0\.1:1\/\n.*the host or port in url is wrong/m,
    },
    {
      fault: 'a name without an address',
      change: { url: 'https://lb-1.invalid:444' },
      line: /^lb-1 {2}FAILED {2}.*its name lb-1\.invalid does not resolve: .*(?:ENOTFOUND|EAI_AGAIN)/m,
      finds: /This machine finds no address for the name lb-1\.invalid\./,
      remedy: /Check the host in url and the name server/,
    },
  ])('recognises $fault, and states a remedy', async ({ change, line, finds, remedy }) => {
    const { entry } = await givenAppliance();

    const { code, out, warned, diagnosis } = await check([{ ...entry, ...change }]);

    expect({ code, warned, diagnosis }).toEqual({
      code: 1,
      warned: ['1 of 1 appliance cannot be polled as configured.'],
      diagnosis: 'it cannot be polled',
    });
    expect(out).toMatch(line);
    expect(findings(out)).toMatch(finds);
    expect(findings(out)).toMatch(remedy);
  });

  it('says that a plain HTTP port does not speak TLS, without the error lines of OpenSSL', async () => {
    const { entry } = await givenAppliance();
    const port = await givenListener((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));

    const { code, out } = await check([{ ...entry, url: `https://127.0.0.1:${port}` }]);

    expect(code).toBe(1);
    expect(out).toMatch(/^lb-1 {2}FAILED {2}.*: SSL routines: wrong version number; check tls/m);
    expect(findings(out)).toContain(`127.0.0.1:${port} does not speak TLS as expected.`);
  });

  it('says that an appliance with only TLS 1.1 speaks no accepted version', async () => {
    const { cert, key } = certificateOf({ bits: 2_048 });
    const port = await givenTlsListener({ cert, key, maxVersion: 'TLSv1.1' });

    const { out } = await check([{ name: 'lb-1', url: `https://127.0.0.1:${port}`, api_key: apiKey }]);
    const { context, warned } = givenContext({});
    await runCommandLine(['fingerprint', `127.0.0.1:${port}`], context);

    expect(out).toMatch(/^lb-1 {2}FAILED {2}.*; it speaks no TLS that is accepted here, 1\.2 or newer/m);
    expect(findings(out)).toContain(`127.0.0.1:${port} does not support TLS 1.2 or newer.`);
    expect(warned).toEqual([expect.stringContaining('it speaks no TLS that is accepted here, 1.2 or newer')]);
    expect(out + warned.join()).not.toMatch(/ca_file|port in url/);
  });

  it.each([
    ['has a weak key', { bits: 1_024 }, 'has a key or a digest that is too weak to be verified', 'too weak; give'],
    ['begins tomorrow', { fromDays: 1 }, 'is not valid before 20', 'not yet valid; check'],
  ])('says that a certificate which is its own ca_file %s, and that it can be pinned', async (_, parts, says, line) => {
    const { cert, key } = certificateOf(parts);
    const port = await givenTlsListener({ cert, key });
    const file = join(givenFolder(), 'ca.pem');
    await writeFile(file, cert);

    const { out } = await check([
      { name: 'lb-1', url: `https://127.0.0.1:${port}`, api_key: apiKey, tls: { ca_file: file } },
    ]);

    expect(out).toContain(line);
    expect(findings(out)).toContain(says);
    expect(findings(out)).toMatch(/pin .*\n.*fingerprint_sha256: '[0-9a-f]{64}'/);
    expect(findings(out)).not.toContain('ca_file');
  });

  it('says that the expiry of a certificate cannot be read, also in the JSON document', async () => {
    const notAfter = new Date('2027-02-03T04:05:06Z');
    const { cert, key } = createCertificate({ subject: { CN: 'odd' }, notBefore: new Date(0), notAfter });
    const bytes = Buffer.from(new X509Certificate(cert).raw);
    bytes.write('27zz', bytes.indexOf('270203040506Z'));
    const odd = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`;
    const { entry } = await givenAppliance(recordedWorld(), {
      tls: { usual: tlsMaterialOf(key, odd), expired: tlsMaterialOf(key, odd) },
    });

    const text = await check([entry]);
    const json = await check([entry], {}, {}, ['--json']);

    expect([text.code, json.code]).toEqual([0, 0]);
    expect(text.out).toContain('valid to a day that cannot be read (its end cannot be read)');
    expect(JSON.parse(json.out)).toMatchObject({ appliances: [{ certificate: { subject: 'odd', not_after: null } }] });
  });

  it('says that an unrequested interim response came, and no response after it', async () => {
    const { url, material } = await startTlsServer((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'),
      ),
    );
    const tls = { fingerprint_sha256: material.fingerprintSha256 };

    const { out } = await check([{ name: 'lb-1', url: url.origin, api_key: apiKey, tls }]);

    expect(out).toMatch(/^lb-1 {2}FAILED {2}.*it sent an interim answer, 100 or 101, that nobody asked for/m);
    expect(out).toMatch(/Reached +127\.0\.0\.1:\d+ gave no answer of HTTP$/m);
  });

  it('trusts a certificate with an empty subject as its ca_file, and names its first alternative name', async () => {
    const { cert, key } = createCertificate({
      subject: {},
      altNames: ['IP:127.0.0.1', 'DNS:lb.test'],
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 6 * 86_400_000),
    });
    const usual = tlsMaterialOf(key, cert);
    const { entry } = await givenAppliance(recordedWorld(), { tls: { usual, expired: usual } });
    const file = join(givenFolder(), 'ca.pem');
    await writeFile(file, cert);

    const unknown = await check([{ ...entry, tls: {} }]);
    const trusted = await check([{ ...entry, tls: { ca_file: file } }]);

    expect(findings(unknown.out)).toContain('issued by itself, which this machine does not trust');
    expect(trusted.out).toMatch(/for 127\.0\.0\.1, valid to \d{4}/);
    expect(trusted.code).toBe(0);
  });

  it('reports a timeout for an appliance that never responds', async () => {
    const port = await givenListener(() => undefined);
    const appliance = { name: 'lb-1', url: `https://127.0.0.1:${port}`, api_key: apiKey };

    const { code, out } = await check([appliance], { polling: { timeout: '100ms' } });

    expect(code).toBe(1);
    expect(findings(out)).toMatch(/127\.0\.0\.1:\d+ gave no answer in time\.\n.*by hand.*\n.*curl -kv/);
  });

  it('names the variables to set when the environment configures the appliance', async () => {
    const { appliance } = await givenAppliance();
    const { context, said } = givenContext({ env: { ZLB_APPLIANCE_URL: appliance.url, ZLB_API_KEY: apiKey } });

    const code = await runCommandLine(['check'], context);

    expect(code).toBe(1);
    expect(said.join('\n')).toMatch(/by the environment:.*\n.*tls\.fingerprint_sha256 as ZLB_TLS_FINGERPRINT_SHA256/);
  });

  it('says which path to remove from the URL when the API is elsewhere', async () => {
    const { entry } = await givenAppliance();

    const { code, out } = await check([{ ...entry, url: `${entry.url}/api/v3.0/zapi.cgi` }]);

    expect(code).toBe(1);
    expect(findings(out)).toContain('Remove the path /api/v3.0/zapi.cgi from url');
  });

  it('does not call a key accepted before a response of the API proves it', async () => {
    const { url, material } = await startHttpsServer((response) => response.end('{"params":"all is well"}'));
    const tls = { fingerprint_sha256: material.fingerprintSha256 };

    const { code, out } = await check([{ name: 'lb-1', url: url.origin, api_key: apiKey, tls }]);

    expect(code).toBe(1);
    expect(out).toMatch(/^lb-1 {2}FAILED {2}reachable, but its answers are not those of the API \(/m);
    expect(out).not.toContain('accepted');
  });

  it('says that a certificate has expired, and that its renewal breaks the pin', async () => {
    const { entry } = await givenAppliance(recordedWorld(), { tls: { expired: true } });

    const verified = await check([{ ...entry, tls: {} }]);
    const pinned = await check([entry]);

    expect(verified.code).toBe(1);
    expect(findings(verified.out)).toMatch(/expired on \d{4}-\d\d-\d\d\.\n.*Renew it on the appliance/);
    expect(pinned.code).toBe(0);
    expect(findings(pinned.out)).toMatch(
      /expired on \d{4}-\d\d-\d\d\.\n.*pin the new one the same day.*\n {11}zlb-exporter fingerprint 127/,
    );
  });

  it('warns of a certificate that is not verified, and prints the pin', async () => {
    const { entry } = await givenAppliance();

    const { code, out, diagnosis } = await check([{ ...entry, tls: { insecure_skip_verify: true } }]);

    expect(code).toBe(0);
    expect(diagnosis).toMatch(/^it can be polled; 1 thing to fix, \d+ things wrong on it$/);
    expect(out).toMatch(/^lb-1 {2}ok {6}reachable, TLS NOT VERIFIED, key accepted/m);
    expect(findings(out)).toMatch(
      /insecure_skip_verify is on: .*\n.*Replace it by:\n.*fingerprint_sha256: '[0-9a-f]{64}'/,
    );
  });

  it('reports the problems of the status page, with their runbooks', async () => {
    const { entry } = await givenAppliance(busyWorld());

    const { code, out } = await check([entry]);

    expect(code).toBe(0);
    expect(findings(out)).toMatch(/Farm \w+ is down\. The appliance says that it is down.*\n.*runbook of ZlbFarmDown/);
  });

  it('says which farms log no requests, and which objectives are missing or match no farm', async () => {
    const world = healthyPair()[0];
    const [first, ...others] = [...world.farms.values()].filter((farm) => farm.profile === 'http');
    for (const farm of others) farm.settings.logs = 'true';
    const { entry } = await givenAppliance(world);
    const requests = { listen_tcp: '127.0.0.1:0' };

    const without = await check([entry], { requests });
    const objectives = [{ farm: 'misspelt', availability: '99.9%' }];
    const misspelt = await check([{ ...entry, requests: { objectives } }], { requests });
    const off = await check([entry]);

    expect(findings(without.out)).toMatch(/None of its farms has an objective.*alert nobody/);
    expect(findings(without.out)).toContain(`Farm ${first?.name} of lb-1 logs no requests`);
    expect(findings(misspelt.out)).toContain('lb-1 has no farm misspelt, which has an objective');
    expect(findings(misspelt.out)).not.toContain('None of its farms');
    expect(off.out).not.toMatch(/logs no requests|objective/);
  });

  it('says which journal, history and certificate paths are unusable, writes nothing to them, and fails', async () => {
    const { entry } = await givenAppliance(healthyPair()[0]);
    const folder = givenFolder();
    const filesIn = (place: string, certificates: string) => ({
      admin: {
        journal_file: join(place, 'journal.db'),
        tokens: [{ name: 'alice', sha256: 'a'.repeat(64), role: 'operator' }],
        approvals: { certificates_folder: certificates },
      },
      history: { file: join(place, 'history.db') },
    });

    const wrong = await check([entry], filesIn('/proc', '/proc/certificates'));
    const right = await check([entry], filesIn(join(folder, 'new'), folder));

    expect(wrong.code).toBe(1);
    expect(wrong.out).toMatch(/The journal cannot be written: .*\/proc.*name another file in admin\.journal_file/);
    expect(wrong.out).toMatch(/The history cannot be written: .*\/proc.*name another file in history\.file/);
    expect(wrong.out).toMatch(/The certificates in \/proc\/certificates cannot be read: .*certificates_folder/);
    expect(right).toMatchObject({ code: 0, out: expect.not.stringContaining('cannot be written') as string });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says which journal and history are files of something else, and leaves the rights alone', async () => {
    const { entry } = await givenAppliance(healthyPair()[0]);
    const folder = givenFolder();
    const [noise, history] = [join(folder, 'noise'), join(folder, 'history.db')];
    writeFileSync(noise, randomBytes(4_096));
    new HistoryDatabase(history).close();
    const tokens = [{ name: 'alice', sha256: 'a'.repeat(64), role: 'operator' }];
    const checkFiles = (journal: string, file: string) =>
      check([entry], { admin: { journal_file: journal, tokens }, history: { file } });

    const ofNoise = await checkFiles(join(folder, 'new.db'), noise);
    const swapped = await checkFiles(history, folder);
    const right = await checkFiles(join(folder, 'new.db'), history);

    const remedy = (key: string): string => `Move it away, or name another file in ${key}.`;
    expect(ofNoise.code).toBe(1);
    expect(ofNoise.out).toContain(
      `The history cannot be written: ${noise} is another file, or of another version. ${remedy('history.file')}`,
    );
    expect(ofNoise.out).not.toMatch(/journal.*noise|Give |This user/);
    expect(swapped.out).toContain(`The journal cannot be written: ${history} is another file, or of another version.`);
    expect(swapped.out).toContain(`${folder} is a folder, not a regular file. ${remedy('history.file')}`);
    expect(right).toMatchObject({ code: 0, out: expect.not.stringContaining('cannot be written') as string });
  });

  it('reports a clock that is off by more than the threshold of the alert, and a key that sees no farm', async () => {
    const world = recordedWorld();
    world.farms.clear();
    const { appliance, entry } = await givenAppliance(world);
    appliance.fail('*', { kind: 'clock_skew', seconds: -90 });

    const { out } = await check([entry]);

    expect(out).toMatch(/^ {4}Clock {7}1m\d+s behind$/m);
    expect(findings(out)).toMatch(
      /Its clock is 1m\d+s behind the clock of this machine; ZlbApplianceClockWrong fires\./,
    );
    expect(findings(out)).toMatch(/The key sees no farm, .*\n.*to a group that has them/);
  });

  it('warns of a key that every user of the machine can read', async () => {
    const { entry } = await givenAppliance();
    const { api_key: key, ...rest } = entry;
    const folder = givenFolder();
    const file = join(folder, 'key');
    await writeFile(file, key);
    const modes = [
      [0o755, 0o644],
      [0o755, 0o600],
      [0o700, 0o644],
    ] as const;

    const shown: string[] = [];
    for (const [ofFolder, ofFile] of modes) {
      await chmod(folder, ofFolder);
      await chmod(file, ofFile);
      const { code, out } = await check([{ ...rest, api_key_file: file }]);
      expect(code).toBe(0);
      shown.push(out);
    }

    expect(shown[0]).toContain(`Every user of this machine can read the key in ${file}.`);
    expect(shown[1], 'the file is closed').not.toContain('Every user');
    expect(shown[2], 'its folder is closed').not.toContain('Every user');
  });

  it('sends no request after an abort, and says so', async () => {
    const { appliance } = await givenAppliance();
    const env = { ZLB_APPLIANCE_URL: appliance.url, ZLB_API_KEY: apiKey };
    const { context, warned } = givenContext({ env, stopped: AbortSignal.abort() });

    const code = await runCommandLine(['check'], context);

    expect({ code, warned }).toEqual({ code: 1, warned: ['Stopped before all appliances were checked.'] });
    expect(appliance.requests).toEqual([]);
  });

  it('warns of a web configuration key that every user of the machine can read', async () => {
    const folder = givenFolder();
    await chmod(folder, 0o755);
    const { cert, key } = makeMaterial();
    await writeFile(join(folder, 'cert.pem'), cert);
    await writeFile(join(folder, 'key.pem'), key, { mode: 0o644 });
    const web = join(folder, 'web.yml');
    await writeFile(web, JSON.stringify({ tls_server_config: { cert_file: 'cert.pem', key_file: 'key.pem' } }));
    const { context, said } = givenContext({});

    expect(await runCommandLine(['check', `--web.config.file=${web}`], context)).toBe(0);
    expect(said.join('\n')).toContain(`Every user of this machine can read the key in ${join(folder, 'key.pem')}.`);
  });

  it('shows the validity of the certificates of its listeners', async () => {
    const { entry } = await givenAppliance();
    const folder = givenFolder();
    const outs: string[] = [];
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const tls = { cert_file: certFile, key_file: keyFile };
    const web = join(folder, 'web.yml');
    await writeFile(web, JSON.stringify({ tls_server_config: tls }));
    for (const { cert, key } of [makeMaterial(), makeMaterial({ expired: true }), certificateOf({ fromDays: 5 })]) {
      await writeFile(certFile, cert);
      await writeFile(keyFile, key, { mode: 0o600 });
      const tokens = [{ name: 'alice', sha256: 'a'.repeat(64), role: 'viewer' }];
      const more = { admin: { tls, tokens }, requests: { listen_tcp: '127.0.0.1:5514', tls } };
      outs.push((await check([entry], more, {}, [`--web.config.file=${web}`])).out);
    }

    expect(outs[0]).toMatch(/^The admin gateway: .* TLS, 1 token, .*\n {2}Its certificate is valid until \d{4}-/m);
    expect(outs[0]).toContain('The log of requests: 127.0.0.1:5514 TLS.\n');
    expect(outs[1]).toMatch(/^ {2}Warning {2}Its certificate EXPIRED on \d{4}-.* Renew it\.$/m);
    expect(outs.map((out) => out.match(/Its certificate EXPIRED/g)?.length)).toEqual([undefined, 3, undefined]);
    expect(outs.map((out) => out.match(/Its certificate is NOT VALID before \d{4}-.*clock/g)?.length)).toEqual([
      undefined,
      undefined,
      3,
    ]);
  });
});

describe('check of several appliances', () => {
  it('reports each in one line, and fails with the reason', async () => {
    const { appliance, entry } = await givenAppliance();

    const { code, out, warned } = await check([
      { ...entry, name: 'good' },
      { ...entry, name: 'wrong-key', api_key: 'another' },
    ]);

    expect(code).toBe(1);
    expect(out).toMatch(
      /^good +ok +reachable, certificate pinned, key accepted · relianoid 7\.9\.0 community · 10 farms · \d+ collectors, about \d+ calls and (?:[\d.]+|under 0\.1) s of its time a minute$/m,
    );
    expect(out).toMatch(/^wrong-key +FAILED +reachable, but the key is refused/m);
    expect(warned).toEqual([expect.stringContaining('1 of 2 appliances')]);
    expect(appliance.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('checks them in parallel, so that a silent one does not delay the others', async () => {
    const sockets: Socket[] = [];
    const silent = async () =>
      `https://127.0.0.1:${await givenListener((socket) => void (sockets.push(socket) === 3 && hangUp()))}`;
    const hangUp = (): void => sockets.forEach((socket) => socket.destroy());
    const appliances = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => ({ name, url: await silent(), api_key: apiKey })),
    );

    const { out } = await check(appliances);

    // Each is given up when all three are connected to.
    expect(out.match(/closes it before the end of an answer/g)).toHaveLength(3);
    expect(out.match(/^\w+(?= +FAILED)/gm)).toEqual(['one', 'two', 'three']);
  });

  it('validates the whole configuration, but contacts only the appliances of its shard', async () => {
    const { entry } = await givenAppliance();
    const appliances = ['lb-paris', 'lb-madrid', 'lb-berlin'].map((name) => ({ ...entry, name }));

    const some = await check(appliances, {}, {}, ['--shard=1/3']);
    const none = await check(appliances, {}, {}, ['--shard=0/3']);

    expect(some.code).toBe(0);
    expect(some.out).toMatch(
      /^The configuration is valid: 3 appliances\.\nShard 1\/3 watches 2 of them\.\n[^]*^lb-madrid +ok .*\n[^]*^lb-berlin +ok .*\n/m,
    );
    expect(some.out).not.toMatch(/^lb-paris/m);
    expect(none.code).toBe(0);
    expect(none.out).toContain('Shard 0/3 watches 0 of them.\n');
  });

  it('tests the key of the gateway too, and names useless tokens', async () => {
    const { appliance, entry } = await givenAppliance();
    const tokens = [
      { name: 'alice', sha256: 'a'.repeat(64), role: 'operator' },
      { name: 'bob', sha256: 'b'.repeat(64), role: 'viewer', expires: '2020-02-03' },
    ];

    const { code, out } = await check(
      [
        { ...entry, name: 'good', admin_api_key: apiKey },
        { ...entry, name: 'half', admin_api_key: 'anotherkey' },
      ],
      { admin: { tokens } },
    );

    expect(code).toBe(0);
    expect(out).toContain('The admin gateway: 127.0.0.1:9445 without TLS, 2 tokens, journal in /');
    expect(out).toContain('  The token of bob expired on 2020-02-03; zlb-exporter token makes one.\n');
    expect(out.match(/admin_api_key\) does not work: .*401/g)).toHaveLength(1);
    expect(appliance.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

describe('check for scripts', () => {
  const checkAs = (flag: string, appliances: readonly object[]) => check(appliances, {}, { KEY: apiKey }, [flag]);
  const withVariable = (entry: object) => ({ ...entry, api_key: '${KEY}' });

  it('prints only problems and remedies with --quiet', async () => {
    const { entry } = await givenAppliance(healthyPair()[0]);
    const broken = { ...(await givenAppliance(busyWorld(), { apiKey: 'f1x7ure' })).entry, name: 'lb-2' };

    const { code, out, warned } = await checkAs('--quiet', [entry, broken].map(withVariable));

    expect({ code, warned }).toEqual({ code: 1, warned: ['1 of 2 appliances cannot be polled as configured.'] });
    expect(out).toMatch(/^lb-2 {2}FAILED .*\n {4}1\. The key is refused: .*\n {7}Make a key /);
    expect(out).not.toContain('lb-1');
  });

  it('prints one JSON document, with null for unknown values', async () => {
    const { entry } = await givenAppliance(healthyPair()[0]);
    const broken = { ...entry, name: 'lb-2', url: 'https://127.0.0.1:1' };

    const { code, out, warned } = await checkAs('--json', [entry, broken]);

    const { appliances, ...rest } = JSON.parse(out) as { appliances: readonly Record<string, unknown>[] };
    expect({ code, warned, rest }).toEqual({
      code: 1,
      warned: [],
      rest: { valid: true, exit_code: 1, problems: [], warnings: [expect.stringContaining('chmod 600')] },
    });
    expect(appliances[0]).toMatchObject({
      name: 'lb-1',
      ok: true,
      failure: null,
      certificate: { trust: 'pinned', fingerprint_sha256: entry.tls.fingerprint_sha256 },
      product: 'relianoid',
      edition: 'enterprise',
      collectors: { polled: expect.arrayContaining(['farms', 'certificates']) as unknown, failed: [] },
      cost: { max_busy_ratio: 1, calls_per_minute: expect.any(Number) as unknown },
      findings: [],
    });
    expect(appliances[1]).toMatchObject({
      ok: false,
      failure: { reason: 'connect' },
      certificate: null,
      licensed: null,
      farms: null,
      cost: null,
      findings: [{ text: expect.stringContaining('Nothing accepts connections') as unknown }],
    });
  });

  it('reports the errors of both configurations in one run', async () => {
    const webFile = join(givenFolder(), 'web.yml');
    await writeFile(webFile, 'basic_auth_user: {}');

    const { code, warned } = await check([{ name: 'lb-1' }], {}, {}, [`--web.config.file=${webFile}`]);

    expect(code).toBe(2);
    expect(warned.join('\n')).toMatch(/zlb\.yml:.*appliances\[0\]\.url: is missing/);
    expect(warned.join('\n')).toMatch(/web\.yml:1:1: basic_auth_user: unknown key; did you mean "basic_auth_users"/);
  });

  it('includes the errors of a configuration in the JSON document', async () => {
    const { code, out, warned } = await checkAs('--json', [{ name: 'lb-1' }]);

    expect({ code, warned }).toEqual({ code: 2, warned: [] });
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      exit_code: 2,
      problems: expect.arrayContaining([
        expect.objectContaining({ line: 1, key: 'appliances[0].url', message: expect.any(String) as unknown }),
      ]) as unknown,
      appliances: [],
    });
  });

  it('documents every field of the JSON document', async () => {
    const { entry } = await givenAppliance();
    const { out } = await checkAs('--json', [
      { ...entry, api_key: 'f1x7ure' },
      { ...entry, name: 'lb-2' },
    ]);
    const section = readFileSync('docs/command-line.md', 'utf8').split('## The check in scripts')[1]?.split('\n## ')[0];

    const fields = new Set<string>();
    JSON.stringify(JSON.parse(out), (key: string, value: unknown) => {
      if (/^[a-z]/.test(key)) fields.add(key);
      return value;
    });
    expect(fields.size).toBeGreaterThan(20);
    expect([...fields].filter((field) => !new RegExp(`["\`]${field}\\b`).test(section ?? ''))).toEqual([]);
  });
});
