import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { byName, createWorld } from '../../simulator/world-creation.ts';
import { certificate, l4Backend, l4Farm } from '../../simulator/world-parts.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld } from '../../simulator/scenes/expiring.ts';
import { applianceProblems } from '../../src/judgement/appliance.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { dayMs, givenTls, httpsFarm, listening, lists, loopback, nowMs, times, worldOf } from './given-vip.ts';

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

it('says that a farm serves what its store no longer has, until it serves the new one', async () => {
  const server = await givenTls();
  const { world, poll, page, describe } = await givenAppliance(worldOf(httpsFarm(server.port)), {
    runs: lists,
    vip: loopback,
  });

  world.certificates.set('shop_test.pem', certificate('shop_test.pem', { ...times, notAfter: nowMs + 365 * dayMs }));
  await poll('certificates');
  await poll('vip');

  expect(valueOf(await page(), 'zlb_farm_served_certificate_in_store', { farm: 'shop' })).toBe(0);
  expect(describe().certificates).toMatchObject([{ file: 'shop_test.pem', notServedBy: ['shop'] }]);
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

it('shows why a farm has no certificate, and that it is reachable nevertheless', async () => {
  const server = await listening(createServer((socket) => void socket.once('data', () => socket.end('220 ready\r\n'))));
  const { page } = await givenAppliance(worldOf(httpsFarm(server.port)), { runs: [...lists, 'vip'], vip: loopback });

  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
  expect(valueOf(await page(), 'zlb_farm_probe_failure_info', { server_name: 'shop.test', reason: 'tls' })).toBe(1);
});

it('says that a farm cannot be reached, and nothing of its certificate', async () => {
  const server = createServer();
  const { port } = await listening(server);
  server.close();
  const { page } = await givenAppliance(worldOf(httpsFarm(port)), { runs: [...lists, 'vip'], vip: loopback });

  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(0);
  expect(valueOf(await page(), 'zlb_farm_probe_failure_info', { farm: 'shop', reason: 'refused' })).toBe(1);
  expect(await page()).not.toContain('zlb_farm_served_certificate_info{');
});

it('connects to nothing of its own machine that an appliance reports', async () => {
  const server = await givenTls();
  const reported = ['127.0.0.1', 'localhost', '::ffff:127.0.0.1', '0.0.0.0', '::1', '::'];
  const farms = reported.map((vip, index) => httpsFarm(server.port, { name: `f${index}`, vip }));
  const { page } = await givenAppliance(worldOf(...farms), { runs: [...lists, 'vip'], vip: {} });

  expect(seriesOf(await page(), 'zlb_farm_probe_failure_info', { reason: 'not_allowed' })).toHaveLength(6);
  expect(seriesOf(await page(), 'zlb_farm_reachable')).toEqual([]);
  expect(server.connections).toBe(0);
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
  const minutes = async (count: number, minuteMs = 60_000) => {
    for (let minute = 0; minute < count; minute += 1) {
      pass(minuteMs);
      await poll('vip');
    }
  };

  appliance.fail('*', { kind: 'status', status: 503 });
  await minutes(10);
  await poll('farms');

  expect(seriesOf(await page(), 'zlb_farm_status')).toEqual([]);
  expect(valueOf(await page(), 'zlb_farm_reachable', { farm: 'shop' })).toBe(1);
  expect(valueOf(await page(), 'zlb_farm_served_certificate_info', { server_name: 'shop.test' })).toBe(1);
  expect(applianceProblems(describe(), nowMs).map(({ meaning }) => meaning)).toContainEqual(
    expect.stringContaining('Probes: 1 of 1 farm accepts connections.'),
  );

  await minutes(24 * 15, 4 * 60_000);
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

it('leaves out a farm that was down from the start', async () => {
  const server = await givenTls();
  const { page } = await givenAppliance(worldOf(httpsFarm(server.port, { running: false })), {
    runs: [...lists, 'vip'],
    vip: loopback,
  });

  expect(await page()).not.toMatch(/^zlb_farm_(?:reachable|served)\w*\{/m);
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
  expect(performance.now() - startedAtMs).toBeLessThan(4_000);
});

it('polls the appliance while it probes 500 farms', async () => {
  const server = await givenTls();
  const farms = Array.from({ length: 500 }, (_, index) => httpsFarm(server.port, { name: `f${index}` }));
  const { poll, page } = await givenAppliance(worldOf(...farms), { runs: ['farms', 'certificates'], vip: loopback });
  await poll('farm_config');

  const probed = poll('vip');
  await poll('farms');
  const before = server.connections;
  await probed;

  expect(before).toBeLessThan(500);
  expect(seriesOf(await page(), 'zlb_farm_served_certificate_in_store')).toHaveLength(500);
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
  const { poll, page, act } = await givenAppliance(world, { runs: [...lists, 'vip'], farmsListen: true });
  const inStore = async () => valueOf(await page(), 'zlb_farm_served_certificate_in_store', { farm: 'www' });
  const before = await inStore();

  world.certificates.set('www_example_com.pem', certificate('www_example_com.pem', times));
  await poll('certificates');
  await poll('vip');
  const replaced = await inStore();
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
