import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createOperations } from '../../../src/admin/policy/operation.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { collectorDefaults } from '../../../src/collectors/registry.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import type { Fault } from '../../../simulator/faults.ts';
import type { World } from '../../../simulator/world.ts';
import { adminKey, type GatewayCall, givenGateway, pollingKey, roles } from '../../support/given-gateway.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';
import { untilIs } from '../../support/until.ts';

const privateKey = 'Q2FuYXJ5UHJpdmF0ZUtleU1hdGVyaWFs';
const pem = `-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n${privateKey}\n-----END PRIVATE KEY-----\n`;

/** Secrets that callers send, and that must not appear anywhere. */
const sent = {
  password: 'CanaryPassword1a',
  newpassword: 'CanaryNewPassword2b',
  community: 'CanaryCommunity3c',
  vpn: 'CanaryVpnSecret4d',
  vpnUser: 'CanaryVpnUser5e',
  bind: 'CanaryBindPassword6f',
  mail: 'CanaryMailPassword7g',
  apiKey: 'CanaryUserKey8h',
  check: 'CanaryCheckPassword9i',
  cluster: 'CanaryPeerPassword10',
  broken: 'CanaryBrokenBody11',
  privateKey,
} as const;

/** Secrets of an appliance that only a call for exactly them may show. */
const held = {
  heldCommunity: 'CanaryHeldCommunity12',
  heldVpn: 'CanaryHeldVpn13',
  machine: 'CanaryMachineKey14',
} as const;

const json = (value: unknown): GatewayCall => ({ json: value });

const secretBodies: readonly (readonly [method: string, path: string, GatewayCall])[] = [
  ['POST', '/system/users', json({ password: sent.password, newpassword: sent.newpassword, api_key: sent.apiKey })],
  ['POST', '/system/snmp', json({ community: sent.community, status: 'true' })],
  ['POST', '/vpns', json({ name: 'v1', profile: 'tunnel', local: '192.0.2.30', auth: 'secret', password: sent.vpn })],
  ['PUT', '/vpns/site', json({ password: sent.vpn })],
  ['POST', '/vpns/site/users', json({ vpnuser: 'u', vpnpass: sent.vpnUser })],
  ['POST', '/rbac/users', json({ name: 'u1', password: sent.password })],
  ['PUT', '/rbac/users/watcher', json({ newpassword: sent.newpassword, zapikey: sent.apiKey })],
  ['POST', '/rbac/ldap', json({ host: 'x', bind_password: sent.bind })],
  ['POST', '/system/notifications/methods/email', json({ user: 'x', password: sent.mail, server: 'x' })],
  ['POST', '/system/cluster', json({ local_ip: '192.0.2.30', remote_password: sent.cluster })],
  ['PUT', '/monitoring/fg/shop-http', json({ command: `check_http -a user:${sent.check} --password=${sent.check}` })],
  ['POST', '/certificates/pem', json({ name: 'p1', key: sent.privateKey, ca: pem, intermediates: pem })],
  ['POST', '/certificates/x1.pem', { body: pem, type: 'application/x-pem-file' }],
  ['POST', '/certificates/activation', { body: pem, type: 'text/plain' }],
  ['PUT', '/system/backup/b1', { body: sent.privateKey, type: 'application/gzip' }],
  ['POST', '/farms', json({ farmname: 'x', nested: { deep: [{ secret_key: sent.apiKey, note: pem }] } })],
  ['POST', '/system/users', { body: `{"password":"${sent.broken}`, type: 'application/json' }],
  ['POST', '/system/users', { body: `password=${sent.broken}`, type: 'text/plain' }],
];

const faults: readonly Fault[] = [
  { kind: 'status', status: 500, body: { message: adminKey } },
  { kind: 'status', status: 401, body: { message: adminKey } },
  { kind: 'html', status: 502 },
  { kind: 'cut' },
];

const at = (path: string) => `/appliances/lb-1${path}`;
const force = { 'x-force': 'true', 'x-reason': 'for a test' };

it('the gateway reveals no secret in any output, log, file or metric, after any call and failure', async () => {
  const [expired, wrong] = [makeToken().token, makeToken().token];
  const given = await givenGateway(
    { 'lb-1': plantedWorld() },
    {
      polls: [...collectorDefaults.keys()],
      tokens: [{ token: expired, name: 'former', expiresAtMs: 0 }],
    },
  );
  const tokens = Object.fromEntries(roles.map((role) => [role, given.tokenOf(role)]));
  const canaries = { pollingKey, adminKey, expired, wrong, ...tokens, ...sent, ...held };

  const outputs = [
    ...(await sendSecretBodies(given)),
    ...(await sendCarelessly(given)),
    ...(await sendWrongTokens(given, [wrong, expired])),
    ...(await readEverything(given)),
  ];

  const leaks = outputs.flatMap(([where, text]) =>
    Object.entries(canaries).flatMap(([name, canary]) => (text.includes(canary) ? [`${name} in ${where}`] : [])),
  );
  expect(leaks).toEqual([]);
  // There was something to be searched.
  const files = outputs.filter(([where]) => where.startsWith('file journal.db'));
  expect(files.map(([, text]) => text).join('')).toMatch(/\[redacted \d+ characters\]/);
});

type Given = Awaited<ReturnType<typeof givenGateway>>;
type Outputs = (readonly [where: string, text: string])[];

function plantedWorld(): World {
  const world = busyWorld();
  world.settings.snmpCommunity = held.heldCommunity;
  world.activation.certificateKey = held.machine;
  world.vpns.set('site', {
    name: 'site',
    profile: 'site_to_site',
    status: 'up',
    settings: { local: '192.0.2.30', password: held.heldVpn },
  });
  return world;
}

/** Every body as a dry run, as a call, and as a call that goes wrong in each way. */
async function sendSecretBodies({ call, appliance }: Given): Promise<Outputs> {
  const outputs: Outputs = [];
  const operations = createOperations();
  for (const [method, path, request] of secretBodies) {
    for (const as of roles) {
      const dry = await call(method, at(path), { ...request, as, headers: { ...force, 'x-dry-run': 'true' } });
      outputs.push([`dry run of ${method} ${path} by ${as}`, dry.text]);
      const answer = await call(method, at(path), { ...request, as, headers: force });
      // The appliance's own answer is for its caller, and may repeat what was sent.
      if (answer.json && 'code' in answer.json) outputs.push([`refusal of ${method} ${path} to ${as}`, answer.text]);
    }
    for (const fault of faults) {
      // Not the polls as well: they are sent another key, and that is the one taken out of what
      // they say.
      appliance.fail(operations.find(method, path).operation.row.route, fault);
      const answer = await call(method, at(path), { ...request, headers: force });
      outputs.push([`${method} ${path} with ${fault.kind}`, answer.text]);
    }
    appliance.heal();
  }
  for (const path of ['/system/snmp', '/vpns/site', '/certificates/x1.pem', '/certificates/activation'])
    await call('GET', at(path));
  return outputs;
}

/** Keys and tokens where they do not belong: their callers see them again, others may not. */
async function sendCarelessly({ call, tokenOf }: Given): Promise<Outputs> {
  const outputs: Outputs = [];
  const stop = { action: 'stop' };
  for (const secret of [tokenOf('admin'), adminKey, pollingKey]) {
    const headers = { 'x-reason': `my key is ${secret}` };
    await call('PUT', at('/farms/db/actions'), { json: stop, headers });
    await call('PUT', at(`/farms/${secret}/actions`), { json: stop, headers });
    await call('DELETE', at(`/certificates/${secret}`), { headers });
    await call('DELETE', at('/certificates/x'), { headers: { ...headers, 'x-confirm': secret } });
    await call('GET', at(`/nothing/${secret}/at/all`), { headers });
    await call('GET', `/${secret}`, { headers });
    await call('GET', at(`/farms?note=${secret}`));
    await call('GET', at(`/farms?token=${secret}`));
    await call('POST', at('/farms'), { json: { farmname: secret, [secret]: secret }, headers });
    await call('POST', at('/system/backup'), { json: { name: 'x1' }, headers: { ...headers, 'x-dry-run': secret } });
    await call('PUT', '/freeze', { headers });
    outputs.push(['GET /freeze', (await call('GET', '/freeze', { as: 'viewer' })).text]);
    outputs.push(['423', (await call('PUT', at('/farms/db/actions'), { json: stop })).text]);
    await call('DELETE', '/freeze', { headers });
  }
  return outputs;
}

async function sendWrongTokens({ call, url, tokenOf }: Given, wrong: readonly string[]): Promise<Outputs> {
  const right = tokenOf('admin');
  const outputs: Outputs = [];
  for (const token of [...wrong, `${right}x`, right.slice(0, -1)])
    outputs.push(['a refused token', (await call('GET', at('/farms'), { as: token })).text]);
  for (const lines of [`Bad line ${adminKey}`, `X: ${right.repeat(500)}`]) {
    const request = `GET /whoami HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${right}\r\n${lines}\r\n\r\n`;
    outputs.push(['what is not an HTTP', (await exchangeRaw(url, request)).text]);
  }
  return outputs;
}

/** Reads both listeners, the log, and the files of the audit after the exporter has stopped. */
async function readEverything({ call, metricsUrl, journalFile, logged, close }: Given): Promise<Outputs> {
  const outputs: Outputs = [];
  await untilIs(async () => (await fetch(`${metricsUrl}/-/ready`)).status, 200);
  for (const path of ['/', '/?list=changes', '/metrics', '/api/status', '/api/history?limit=1000', '/sd', '/-/ready'])
    outputs.push([path, await (await fetch(metricsUrl + path)).text()]);
  const questions = ['setSnmp', 'createVpn', 'updateCallingUser'].map((key) => at(`/parameters?operation=${key}`));
  for (const path of ['/whoami', '/appliances', '/freeze', '/audit?limit=1000', '/docs/openapi.json', ...questions])
    outputs.push([path, (await call('GET', path)).text]);
  await close();
  for (const file of await readdir(dirname(journalFile)))
    outputs.push([`file ${file}`, await readFile(join(dirname(journalFile), file), 'latin1')]);
  return [...outputs, ['the log', logged.join('')]];
}
