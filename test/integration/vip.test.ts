import { createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { byName, createWorld } from '../../simulator/world-creation.ts';
import { certificate, l4Backend, l4Farm } from '../../simulator/world-parts.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld } from '../../simulator/scenes/expiring.ts';
import { applianceProblems } from '../../src/judgement/appliance.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { watchConnections } from '../support/connections.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { givenTls, httpsFarm, listening, lists, loopback, nowMs, times, worldOf } from './given-vip.ts';

/** A server that answers the first bytes of each connection. */
function answering(answer: (socket: Socket) => void): Server {
  return createServer((socket) => void socket.once('data', () => answer(socket)));
}

it('shows what a farm serves, whether the store has it, and whether it covers the name', async () => {
  const server = await givenTls();
  const { page, describe } = await givenAppliance(worldOf(httpsFarm(server.port)), {
    runs: [...lists, 'vip'],
    vip: loopback,
  });

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

it('says nothing of the store for a farm that passes TLS on to its backends', async () => {
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

it('says in one word what is wrong with a peer, and the other farms do not notice', async () => {
  const closed = createServer();
  const refusing = await listening(closed);
  closed.close();
  const peers = {
    refused: refusing.port,
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

/** Addresses that an appliance may report for its farms, to lead the exporter elsewhere. */
const notOfFarms = {
  loopback: ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1'],
  unspecified: ['0.0.0.0', '::'],
  linkLocal: ['169.254.0.1', 'fe80::1', 'fe80::1%lo'],
  metadata: ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1'],
  reserved: ['240.0.0.1', '255.255.255.255'],
  names: ['localhost', 'metadata.google.internal', 'shop.example.com', '*', '-1', ''],
  otherForms: ['2130706433', '0x7f000001', '127.1', '0177.0.0.1', ' 127.0.0.1', '[::1]', '127.0.0.1/8', '127.0.0.1:22'],
};

it('connects to nothing that is no address of a farm, nor to the ports of this machine', async () => {
  const own = await givenTls({}, '0.0.0.0');
  const ownAddresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const reported = [...new Set([...Object.values(notOfFarms).flat(), ...ownAddresses])];
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

it('makes no call to the appliance, and runs while that refuses everything', async () => {
  const server = await givenTls();
  const given = await givenAppliance(worldOf(httpsFarm(server.port)), { runs: lists, vip: loopback });
  given.world.activation = deactivatedWorld().activation;
  await given.poll('activation');
  const asked = given.appliance.requests.length;

  await given.poll('vip');

  expect(given.appliance.requests).toHaveLength(asked);
  expect(valueOf(await given.page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
});

it('waits for the list of farms', async () => {
  const server = await givenTls();
  const { page } = await givenAppliance(worldOf(httpsFarm(server.port)), { runs: ['vip'], vip: loopback });

  expect(valueOf(await page(), 'zlb_collector_skipped_total', { collector: 'vip', reason: 'farms_unknown' })).toBe(1);
  expect(server.connections).toBe(0);
});

it('goes on probing for a day while no list of farms can be read, and tells it on the page', async () => {
  const server = await givenTls();
  const given = await givenAppliance(worldOf(httpsFarm(server.port)), { runs: [...lists, 'vip'], vip: loopback });
  const { pass, poll, page, describe, appliance } = given;
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
    expect.stringContaining('Probes: 1 of 1 farm accepts connections.'),
  );

  await probesEvery(60, 23);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
  await probesEvery(60, 1);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBeUndefined();
});

it.each(['read', 'away'])('leaves out a farm that a reload has excluded while the list is %s', async (list) => {
  const server = await givenTls();
  const excluded = new Set<string>();
  const { page, pass, poll } = await givenAppliance(worldOf(httpsFarm(server.port)), {
    runs: [...lists, 'vip'],
    vip: loopback,
    watches: (farm) => !excluded.has(farm),
  });

  if (list === 'away') pass(10 * 60_000);
  excluded.add('shop');
  await poll('vip');

  expect(seriesOf(await page(), 'zlb_farm_reachable')).toEqual([]);
});

it('probes nothing before a list of farms was read', async () => {
  const server = await givenTls();
  const { pass, poll, page } = await givenAppliance(worldOf(httpsFarm(server.port)), { runs: lists, vip: loopback });
  pass(10 * 60_000);
  await page();

  await poll('vip');

  expect(server.connections).toBe(0);
});

it('goes on probing a farm that is said to be down: its clients may be served nevertheless', async () => {
  const server = await givenTls();
  const { world, poll, page, describe } = await givenAppliance(worldOf(httpsFarm(server.port)), {
    runs: [...lists, 'vip'],
    vip: loopback,
  });

  const farm = world.farms.get('shop');
  if (farm) farm.running = false;
  await poll('farms');
  await poll('vip');

  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
  expect(applianceProblems(describe(), nowMs)).toMatchObject([
    { title: 'Farm shop is down', meaning: expect.stringContaining('succeeds') as string },
  ]);
});

it('connects to three farms at a time', async () => {
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

it('gives a farm that did not answer a second the next time, and asks it for no further name', async () => {
  const tarpit = await listening(createServer());
  const settings = { ...loopback, serverNames: { shop: ['a.test', 'b.test', 'c.test'] } };
  const { page, poll } = await givenAppliance(worldOf(httpsFarm(tarpit.port)), {
    runs: [...lists, 'vip'],
    vip: settings,
  });
  const startedAtMs = performance.now();

  await poll('vip');

  const failures = seriesOf(await page(), 'zlb_farm_probe_failure_info');
  expect(failures).toEqual([expect.stringContaining('server_name="a.test",reason="timeout"')]);
  expect(tarpit.connections).toBe(2);
  // The first run waited for five seconds.
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
});

it('polls the appliance while it probes many farms', async () => {
  const server = await givenTls();
  const farms = Array.from({ length: 60 }, (_, index) => httpsFarm(server.port, { name: `f${index}` }));
  const { poll, page } = await givenAppliance(worldOf(...farms), { runs: ['farms', 'certificates'], vip: loopback });
  await poll('farm_config');

  const probed = poll('vip');
  await poll('farms');
  const before = server.connections;
  await probed;

  expect(before).toBeLessThan(60);
  expect(seriesOf(await page(), 'zlb_farm_served_certificate_in_store')).toHaveLength(60);
});

it('ends at once when the exporter stops', async () => {
  const server = await listening(createServer());
  const { poll, close } = await givenAppliance(worldOf(httpsFarm(server.port)), { runs: lists, vip: loopback });
  const running = poll('vip');

  await close();

  await running;
  expect(server.connections).toBeLessThanOrEqual(1);
});

it('sees a certificate that was replaced, and that the farm serves it after a restart', async () => {
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

it('is right at once after the gateway has replaced the certificate of a farm', async () => {
  const [world] = healthyPair(nowMs);
  const { page, act, changed } = await givenAppliance(world, { runs: [...lists, 'vip'], farmsListen: true });
  const farm = world.farms.get('www');
  if (farm?.profile !== 'http') throw new Error('www is no HTTP farm');
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

it('shows an older certificate on a standby, to which connect_to leads', async () => {
  const [master, backup] = healthyPair(nowMs);
  const standby = await startSimulatedAppliance({ world: backup, apiKey: 'any', farmsListen: true });
  onTestFinished(() => standby.close());
  const connectTo = standby.farms?.addresses ?? {};
  const networks = ['192.0.2.0/24', '127.0.0.1'];

  const { page } = await givenAppliance(master, { runs: [...lists, 'vip'], vip: { connectTo, networks } });

  expect(valueOf(await page(), 'zlb_farm_served_certificate_in_store', { farm: 'www' })).toBe(0);
});
