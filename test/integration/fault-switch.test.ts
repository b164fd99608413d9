import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startDemonstration } from '../../simulator/demo.ts';
import { startFaultSwitch } from '../../simulator/fault-switch.ts';
import { readShownCertificate } from '../../src/commands/fingerprint.ts';
import { HostResolver } from '../../src/lib/host-resolver.ts';
import { errorCode } from '../../src/lib/check.ts';

/** The simulated appliances, and the switch of their faults. */
async function givenSwitch() {
  const demonstration = await startDemonstration({ apiKey: 'canary-key', latency: 'none' });
  const faults = await startFaultSwitch(demonstration.appliances);
  onTestFinished(async () => {
    await faults.close();
    await demonstration.close();
  });
  const send = async (method: string, path: string) => {
    const response = await fetch(`${faults.url}${path}`, { method });
    return { status: response.status, text: await response.text() };
  };
  const { world } = demonstration.appliances.find(({ name }) => name === 'lb-madrid')!.appliance;
  return { demonstration, send, world };
}

it('the simulator switches a fault of a farm on and off by its path', async () => {
  const { send, world } = await givenSwitch();
  const stateOf = () => world.farms.get('shop')?.runState;

  const begun = await send('PUT', '/lb-madrid/hung-proxy/shop');
  const during = stateOf();
  const ended = await send('DELETE', '/lb-madrid/hung-proxy/shop');

  expect([begun, ended]).toEqual([
    { status: 200, text: 'lb-madrid/hung-proxy/shop has begun\n' },
    { status: 200, text: 'lb-madrid/hung-proxy/shop has ended\n' },
  ]);
  expect([during, stateOf()]).toEqual(['hung', 'readable']);
});

it('the simulator keeps all backends of a farm down until the fault ends, and restores what was before', async () => {
  // In the first of four minutes, the backend that comes and goes is up.
  vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / 240_000) * 240_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { demonstration, send, world } = await givenSwitch();
  const { url, certificatePem: ca } = demonstration.appliances.find(({ name }) => name === 'lb-madrid')!.appliance;
  /** Calls the appliance, and resolves to the status. */
  const call = async (method: string, path: string, body = '') => {
    const headers = { 'zapi-key': 'canary-key', 'content-type': 'application/json' };
    const sent = request(`${url}/api/v4.0/api.cgi${path}`, { method, ca, headers }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  const states = async () => {
    await call('GET', '/system/version');
    const shop = world.farms.get('shop');
    return shop?.profile === 'http'
      ? shop.services.flatMap(({ backends }) => backends.map(({ status }) => status))
      : [];
  };
  const usual = ['up', 'up', 'up', 'down', 'up'];
  const before = await states();

  await send('PUT', '/lb-madrid/backends-down/shop');
  await send('PUT', '/lb-madrid/backends-down/shop');
  const enabled = await call('PUT', '/farms/shop/services/front/backends/0/maintenance', '{"action":"up"}');
  const during = await states();
  await send('DELETE', '/lb-madrid/backends-down/shop');

  expect(enabled).toBe(200);
  expect(during).toEqual(['down', 'down', 'down', 'down', 'down']);
  expect([before, await states()]).toEqual([usual, usual]);
});

it('an expired certificate reuses the usual key, and a client that trusts it reports it as expired', async () => {
  const { demonstration, send } = await givenSwitch();
  const { appliance } = demonstration.appliances.find(({ name }) => name === 'lb-madrid')!;
  const { certificatePem: ca, fingerprintSha256: before } = appliance;
  const handshake = async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(appliance.url).port), ca });
    const outcome = await once(socket, 'secureConnect').then(
      () => 'trusted',
      (error: unknown) => errorCode(error),
    );
    socket.destroy();
    return outcome;
  };
  const usual = await handshake();

  await send('PUT', '/lb-madrid/expired-certificate');

  expect([usual, await handshake()]).toEqual(['trusted', 'CERT_HAS_EXPIRED']);
  expect(appliance.fingerprintSha256).not.toBe(before);
  const shown = await readShownCertificate({
    host: '127.0.0.1',
    port: Number(new URL(appliance.url).port),
    serverName: undefined,
    resolver: new HostResolver(),
    signal: AbortSignal.timeout(60_000),
  });
  expect(shown.fingerprintSha256).toBe(appliance.fingerprintSha256);
});

it('the simulator switches each fault of all calls on and off', async () => {
  const { send } = await givenSwitch();
  const { text } = await send('GET', '/');
  const rows = [...text.matchAll(/^ {2}APPLIANCE\/(\S+?)(\/FARM)? +(.+)$/gm)];

  for (const [, name, farm] of rows.filter((row) => row[2] === undefined))
    for (const method of ['PUT', 'DELETE'])
      expect((await send(method, `/lb-berlin/${name}${farm ?? ''}`)).status, name).toBe(200);

  expect(rows).toHaveLength(13);
});

it.each([
  '/lb-rome/refused',
  '/lb-madrid/nothing',
  '/lb-madrid/hung-proxy',
  '/lb-madrid/refused/shop',
  '/%E0%A4%A',
  '/lb-madrid/hung-proxy/db',
  '/lb-madrid/constructor',
])('the simulator answers %s with 404 and what it accepts', async (path) => {
  const { send } = await givenSwitch();

  const { status, text } = await send('PUT', path);

  expect(status).toBe(404);
  expect(text).toMatch(/APPLIANCE\/hung-proxy\/FARM|it has shop, /);
});
