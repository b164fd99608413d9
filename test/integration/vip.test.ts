import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createServer as createTlsServer } from 'node:tls';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCertificate } from '../../simulator/certificate.ts';
import { byName, createWorld } from '../../simulator/world-creation.ts';
import { certificate, httpFarm, l4Backend, l4Farm } from '../../simulator/world-parts.ts';
import type { World } from '../../simulator/world.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld } from '../../simulator/scenes/expiring.ts';
import { applianceProblems } from '../../src/state/appliance-problems.ts';
import { watchConnections } from '../support/connections.ts';
import { freePort } from '../support/free-port.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { givenTls, httpsFarm, listening, lists, loopback, nowMs, times, worldOf } from './given-vip.ts';

/** An appliance with the farm `shop`, which is a server with TLS; all has run, unless told. */
async function givenShop(options: Parameters<typeof givenAppliance>[1] = {}) {
  const server = await givenTls();
  const world = worldOf(httpsFarm(server.port));
  return { server, ...(await givenAppliance(world, { runs: [...lists, 'vip'], vip: loopback, ...options })) };
}

/** A server that answers the first bytes of each connection. */
function answering(answer: (socket: Socket) => void): Server {
  return createServer((socket) => void socket.once('data', () => answer(socket)));
}

it('vip shows what a farm serves, whether it is in the store, and whether it covers the name', async () => {
  const { server, page, describe } = await givenShop();

  const text = await page();
  const labels = { farm: 'shop', server_name: 'shop.test' };
  expect(valueOf(text, 'zlb_farm_reachable', { vip: '127.0.0.1', vport: String(server.port) })).toBe(1);
  expect(valueOf(text, 'zlb_farm_connect_duration_seconds', { farm: 'shop' })).toBeGreaterThan(0);
  expect(valueOf(text, 'zlb_farm_served_certificate_not_before_timestamp_seconds', labels)).toBe(
    times.notBefore / 1_000,
  );
  expect(valueOf(text, 'zlb_farm_served_certificate_not_after_timestamp_seconds', labels)).toBe(times.notAfter / 1_000);
  expect(valueOf(text, 'zlb_farm_served_certificate_in_store', labels)).toBe(1);
  expect(valueOf(text, 'zlb_farm_served_certificate_valid_name', labels)).toBe(1);
  expect(valueOf(text, 'zlb_farm_served_certificate_info', { ...labels, common_name: 'shop.test' })).toBe(1);
  expect(valueOf(text, 'zlb_farm_served_chain_not_after_timestamp_seconds', labels)).toBe(times.notAfter / 1_000);
  expect(seriesOf(text, 'zlb_farm_probe_failure_info')).toEqual([]);
  expect(describe().certificates).toMatchObject([{ file: 'shop_test.pem', servedBy: ['shop'] }]);
});

it('vip makes no claim about the store for a farm that passes TLS through to its backends', async () => {
  const server = await givenTls();
  const farm = l4Farm({
    name: 'mail',
    vip: '127.0.0.1',
    vport: String(server.port),
    backends: [l4Backend(0, '10.0.0.1', 25)],
  });
  const world = createWorld({ farms: byName([farm]) });
  const { page } = await givenAppliance(world, {
    runs: [...lists, 'vip'],
    vip: { ...loopback, serverNames: { mail: ['shop.test', 'mail.test'] } },
  });

  const names = seriesOf(await page(), 'zlb_farm_served_certificate_valid_name', { farm: 'mail' });
  expect(names.map((line) => line.replace(/.*server_name="([^"]*)".* /, '$1 '))).toEqual([
    'shop.test 1',
    'mail.test 0',
  ]);
  expect(seriesOf(await page(), 'zlb_farm_served_certificate_in_store')).toEqual([]);
});

it('vip reports in one word what is wrong with a peer, and does not affect other farms', async () => {
  const peers = {
    refused: await freePort(),
    greets: (await listening(answering((socket) => socket.end('220 ready\r\n')))).port,
    resets: (await listening(answering((socket) => void socket.resetAndDestroy()))).port,
  };
  const healthy = await givenTls();
  const bad = Object.entries(peers).map(([name, port]) => httpsFarm(port, { name }));
  const good = bad.map(({ name }) => httpsFarm(healthy.port, { name: `beside-${name}` }));
  const { page } = await givenAppliance(worldOf(...bad, ...good), { runs: [...lists, 'vip'], vip: loopback });

  const text = await page();
  const failures = seriesOf(text, 'zlb_farm_probe_failure_info').map((line) => [
    /farm="([^"]+)"/.exec(line)?.[1],
    /reason="(\w+)"/.exec(line)?.[1],
  ]);
  expect(Object.fromEntries(failures)).toEqual({ refused: 'refused', greets: 'tls', resets: 'tls' });
  expect(Object.keys(peers).map((farm) => valueOf(text, 'zlb_farm_reachable', { farm }))).toEqual([0, 1, 1]);
  for (const { name: farm } of good)
    expect(valueOf(text, 'zlb_farm_served_certificate_in_store', { farm }), farm).toBe(1);
  for (const { name: farm } of bad)
    expect(seriesOf(text, 'zlb_farm_served_certificate_info', { farm }), farm).toEqual([]);
});

// test/unit/collectors/vip-targets.test.ts has all addresses.
it('vip connects only to farm addresses, and never to ports of this machine', async () => {
  const own = await givenTls({}, '0.0.0.0');
  const localAddresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const reported = [...new Set(['127.0.0.1', '0.0.0.0', '::1', 'localhost', '127.1', ...localAddresses])];
  const farms = reported.map((vip, index) => httpsFarm(own.port, { name: `f${index}`, vip }));
  const { poll, page } = await givenAppliance(worldOf(...farms), { runs: lists, vip: {} });
  const connections = watchConnections();

  await poll('vip');

  const tried = connections.tried().filter((each) => each.endsWith(` ${own.port}`));
  expect({ tried, answered: own.connections }).toEqual({ tried: [], answered: 0 });
  expect(seriesOf(await page(), 'zlb_farm_probe_failure_info', { reason: 'not_allowed' })).toHaveLength(
    reported.length,
  );
  expect(seriesOf(await page(), 'zlb_farm_reachable')).toEqual([]);
});

it('vip makes no call to the appliance, and runs while the appliance refuses everything', async () => {
  const { world, appliance, poll, page } = await givenShop({ runs: lists });
  world.activation = deactivatedWorld().activation;
  await poll('activation');
  const asked = appliance.requests.length;

  await poll('vip');

  expect(appliance.requests).toHaveLength(asked);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
});

it('vip waits for the farm list', async () => {
  const { server, page } = await givenShop({ runs: ['vip'] });

  expect(valueOf(await page(), 'zlb_collector_skipped_total', { collector: 'vip', reason: 'farms_unknown' })).toBe(1);
  expect(server.connections).toBe(0);
});

it('vip continues probing for a day while no farm list can be read, and says so on the page', async () => {
  const { pass, poll, page, describe, appliance } = await givenShop();
  const probesEvery = async (minutes: number, count: number) => {
    for (let times = 0; times < count; times += 1) {
      pass(minutes * 60_000);
      await poll('vip');
    }
  };

  appliance.fail('*', { kind: 'status', status: 503 });
  await probesEvery(1, 10);
  await poll('farms');

  expect(seriesOf(await page(), 'zlb_farm_status')).toEqual([]);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
  expect(valueOf(await page(), 'zlb_farm_served_certificate_info', { server_name: 'shop.test' })).toBe(1);
  expect(applianceProblems(describe(), nowMs).map(({ meaning }) => meaning)).toContainEqual(
    expect.stringContaining('Probes, the oldest <1 min ago: 1 of 1 farm accepts connections.'),
  );

  await probesEvery(60, 23);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
  await probesEvery(60, 1);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBeUndefined();
});

it.each(['read', 'away'])('vip skips a farm that a reload has excluded while the farm list is %s', async (list) => {
  const excluded = new Set<string>();
  const { page, pass, poll } = await givenShop({ watches: (farm) => !excluded.has(farm) });

  if (list === 'away') pass(10 * 60_000);
  excluded.add('shop');
  await poll('vip');

  expect(seriesOf(await page(), 'zlb_farm_reachable')).toEqual([]);
});

it('vip connects to at most three farms at a time', async () => {
  // Answers once three wait.
  const waiting: Socket[] = [];
  let unanswered = 0;
  let mostUnanswered = 0;
  const server = await listening(
    createServer((socket) => {
      unanswered += 1;
      mostUnanswered = Math.max(mostUnanswered, unanswered);
      socket.once('data', () => {
        waiting.push(socket);
        if (waiting.length < 3) return;
        unanswered -= 3;
        for (const each of waiting.splice(0)) each.end();
      });
    }),
  );
  const farms = Array.from({ length: 12 }, (_, index) => httpsFarm(server.port, { name: `f${index}` }));
  const { page } = await givenAppliance(worldOf(...farms), { runs: [...lists, 'vip'], vip: loopback });

  expect(seriesOf(await page(), 'zlb_farm_reachable')).toHaveLength(12);
  expect([server.connections, mostUnanswered]).toEqual([12, 3]);
});

it('vip gives most of many unresponsive farms one second next time, in turn, and probes no further name of one', async () => {
  const hellos: Socket[] = [];
  const tarpit = await listening(createServer((socket) => void socket.once('data', () => hellos.push(socket))));
  const farms = Array.from({ length: 9 }, (_, index) => httpsFarm(tarpit.port, { name: `f${index}` }));
  const serverNames = Object.fromEntries(farms.map(({ name }) => [name, ['a.test', 'b.test', 'c.test']]));
  const { page, poll } = await givenAppliance(worldOf(...farms), { runs: lists, vip: { ...loopback, serverNames } });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  /** Lets this time pass for three farms after three others. */
  const pollInVain = async (...patienceMs: readonly number[]) => {
    const polled = poll('vip');
    let before = hellos.length;
    for (const ms of patienceMs) {
      while (hellos.length < before + 3) await yieldToEventLoop();
      before = hellos.length;
      vi.advanceTimersByTime(ms);
    }
    await polled;
  };

  await pollInVain(5_000, 5_000, 5_000);
  await pollInVain(5_000, 5_000, 1_000);
  await pollInVain(5_000, 1_000, 5_000);

  const failures = seriesOf(await page(), 'zlb_farm_probe_failure_info');
  expect(failures).toHaveLength(9);
  expect(failures[0]).toContain('server_name="a.test",reason="timeout"');
  expect(tarpit.connections).toBe(27);
});

it('vip detects a replaced certificate, and that the farm serves it after a restart', async () => {
  const [world] = healthyPair(nowMs);
  const { poll, page, act, describe } = await givenAppliance(world, { runs: [...lists, 'vip'], farmsListen: true });
  const inStore = async () => valueOf(await page(), 'zlb_farm_served_certificate_in_store', { farm: 'www' });
  const before = await inStore();

  world.certificates.set('www_example_com.pem', certificate('www_example_com.pem', times));
  await poll('certificates');
  await poll('vip');
  const replaced = await inStore();
  expect(describe().certificates).toContainEqual(
    expect.objectContaining({ file: 'www_example_com.pem', notServedBy: ['www'] }),
  );
  await act('www', 'restart');
  await poll('vip');

  expect([before, replaced, await inStore()]).toEqual([1, 0, 1]);
});

it.each([
  ['as the store has it', healthyPair(nowMs)[0], 'www', 1],
  ['from before its renewal', busyWorld(nowMs), 'shop', 0],
])(
  'vip reaches every farm of a demonstration, one of which serves its certificate %s',
  async (_, world, farm, inStore) => {
    const { page } = await givenAppliance(world, { runs: [...lists, 'vip'], farmsListen: true });

    expect(valueOf(await page(), 'zlb_farm_served_certificate_in_store', { farm })).toBe(inStore);
    expect(await page()).not.toMatch(/^zlb_farm_reachable\{.* 0$|^zlb_farm_probe_failure_info/m);
  },
);

it.each<[string, (world: World) => unknown]>([
  [
    'that was stopped when the exporter was configured',
    ({ farms }) => Object.assign(farms.get('oldportal')!, { running: true }),
  ],
  ['that moved to another port', ({ farms }) => Object.assign(farms.get('payments')!, { vport: '9083' })],
  ['that is new', ({ farms }) => farms.set('new', httpFarm({ name: 'new', vip: '192.0.2.40', vport: '9084' }))],
])('vip reaches a simulated farm %s', async (_, change) => {
  const world = busyWorld(nowMs);
  const { poll, page, appliance } = await givenAppliance(world, { runs: lists, farmsListen: true });

  change(world);
  await appliance.farms?.follow();
  await poll('farms');
  await poll('vip');

  expect(await page()).toMatch(/^zlb_farm_reachable\{.* 1$/m);
  expect(await page()).not.toMatch(/^zlb_farm_reachable\{.* 0$|^zlb_farm_probe_failure_info/m);
});

it('vip is correct at once after the gateway has replaced the certificate of a farm', async () => {
  const [world] = healthyPair(nowMs);
  const { page, act, changed } = await givenAppliance(world, { runs: [...lists, 'vip'], farmsListen: true });
  const farm = world.farms.get('www');
  if (farm?.profile !== 'http') throw new Error('www is not an HTTP farm');
  const inStore = async () => valueOf(await page(), 'zlb_farm_served_certificate_in_store', { farm: 'www' });

  world.certificates.set('new.pem', certificate('new.pem', { ...times, commonName: 'www.example.com' }));
  farm.certificates = ['new.pem'];
  await changed('certificates', undefined);
  await changed('farm-certificates', 'www');
  const attached = await inStore();
  await act('www', 'restart');
  await changed('farms', 'www');

  expect([attached, await inStore()]).toEqual([0, 1]);
});

describe('an L4 farm, whose protocol is not read', () => {
  async function givenL4Farm(port: number, udpFarms?: readonly string[]) {
    const farms = [l4Farm({ name: 'mail', vip: '127.0.0.1', vport: String(port) })];
    const vip = { ...loopback, udpFarms };
    return await givenAppliance(createWorld({ farms: byName(farms) }), { runs: [...lists, 'vip'], vip });
  }

  it('is unreachable once it has been reached', async () => {
    const port = await freePort();
    const server = createServer((socket) => socket.end()).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const { page, poll } = await givenL4Farm(port);
    expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'mail' })).toBe(1);

    server.close();
    for (let runs = 0; runs < 3; runs += 1) await poll('vip');

    expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'mail' })).toBe(0);
    expect(valueOf(await page(), 'zlb_farm_probe_failure_info', { farm: 'mail', reason: 'refused' })).toBe(1);
  });

  it('has an unknown reachability before it was reached, also after a restart, because it may use UDP', async () => {
    const { page } = await givenL4Farm(await freePort());

    expect(seriesOf(await page(), 'zlb_farm_reachable')).toEqual([]);
    expect(valueOf(await page(), 'zlb_farm_probe_failure_info', { farm: 'mail', reason: 'refused' })).toBe(1);
  });

  it('is unreachable at once when UDP farms are configured, and those are not probed', async () => {
    const port = await freePort();
    const named = await givenL4Farm(port, ['dns']);
    expect(valueOf(await named.page(), 'zlb_farm_reachable', { farm: 'mail' })).toBe(0);

    const udp = await givenL4Farm(port, ['mail']);
    expect(seriesOf(await udp.page(), 'zlb_farm_probe_failure_info')).toEqual([]);
  });
});

describe('vip without a setting for L4 farms', () => {
  /** An L4 farm at a port that nobody listens on yet, beside an HTTPS farm. */
  async function givenL4() {
    const port = await freePort();
    const web = await givenTls();
    const l4 = l4Farm({
      name: 'mail',
      vip: '127.0.0.1',
      vport: String(port),
      backends: [l4Backend(0, '10.0.0.1', 25)],
    });
    const world = createWorld({ farms: byName([l4, httpsFarm(web.port)]) });
    const given = await givenAppliance(world, { runs: [...lists, 'vip'], vip: { ...loopback, l4Only: true } });
    const reachable = async () => seriesOf(await given.page(), 'zlb_farm_reachable');
    const unreachable = () =>
      applianceProblems(given.describe(), Date.now()).filter(({ alert }) => alert === 'ZlbFarmUnreachable');
    return { ...given, web, port, reachable, unreachable };
  }

  it('reports nothing for an address that never responded, and does not connect to HTTP farms', async () => {
    const { poll, reachable, unreachable, describe, web } = await givenL4();
    await poll('vip');

    expect(await reachable()).toEqual([]);
    expect(unreachable()).toEqual([]);
    expect(describe().farms?.map(({ probe }) => probe)).toEqual([undefined, undefined]);
    expect(web.connections).toBe(0);
  });

  it('shows an address that once responded, and reports a problem when it refuses', async () => {
    const { poll, reachable, unreachable, port } = await givenL4();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await poll('vip');
    expect(await reachable()).toEqual([expect.stringMatching(/farm="mail".* 1$/)]);

    server.close();
    await once(server, 'close');
    await poll('vip');

    expect(await reachable()).toEqual([expect.stringMatching(/farm="mail".* 0$/)]);
    expect(unreachable()).toMatchObject([{ title: 'Farm mail cannot be reached' }]);
  });
});

it('vip gives a farm that did not answer its full time again, so that a slow one is found', async () => {
  const { key, cert } = createCertificate({
    subject: { CN: 'shop.test' },
    notBefore: new Date(times.notBefore),
    notAfter: new Date(times.notAfter),
  });
  const proxy = createTlsServer({ key, cert });
  const listener = createServer();
  const { port } = await listening(listener);
  const { poll, page } = await givenAppliance(worldOf(httpsFarm(port)), { runs: lists, vip: loopback });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  /** Probes; the proxy takes the connection after `ms`. */
  const probeAfter = async (ms: number): Promise<void> => {
    const probed = poll('vip');
    const [socket] = (await once(listener, 'connection')) as [Socket];
    await once(socket, 'readable');
    vi.advanceTimersByTime(ms);
    await yieldToEventLoop();
    proxy.emit('connection', socket);
    await probed;
  };

  await probeAfter(5_000);
  const away = await page();
  await probeAfter(2_000);

  expect(seriesOf(away, 'zlb_farm_probe_failure_info', { farm: 'shop' })).toHaveLength(1);
  expect(seriesOf(await page(), 'zlb_farm_probe_failure_info')).toEqual([]);
});
