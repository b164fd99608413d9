import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { recordedWorld } from '../../src/simulator/scenarios.ts';
import {
  busyWorld,
  deactivatedWorld,
  healthyPair,
  largeWorld,
  olderEnterpriseWorld,
} from '../../src/simulator/scenarios.ts';
import { certificate, httpBackend, httpFarm, l4Backend, l4Farm, service } from '../../src/simulator/world-parts.ts';
import { givenAppliance, minuteMs } from '../support/given-appliance.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';

it('drops everything about a farm that was deleted, with the next list of farms', async () => {
  const { world, poll, page } = await givenAppliance(recordedWorld(), { runs: ['farms', 'backends', 'farm_config'] });
  expect(seriesOf(await page(), 'zlb_backend_status', { farm: 'webshop', status: 'up' })).toHaveLength(4);

  world.farms.delete('webshop');
  await poll('farms');

  expect(await page()).not.toContain('farm="webshop"');
});

it('counts and logs a change of state once, and none at the first sight of an object', async () => {
  const { world, poll, page, logged } = await givenAppliance(recordedWorld(), { runs: ['farms', 'backends'] });
  expect(valueOf(await page(), 'zlb_transitions_total', { object: 'farm', to: 'down' })).toBeUndefined();

  const farm = world.farms.get('webshop');
  if (farm) farm.running = false;
  await poll('farms');
  await poll('farms');

  expect(valueOf(await page(), 'zlb_transitions_total', { object: 'farm', to: 'down' })).toBe(1);
  const lines = logged.filter(({ msg }) => msg === 'state changed');
  expect(lines).toEqual([expect.objectContaining({ object: 'farm', farm: 'webshop', from: 'problem', to: 'down' })]);
});

it('calls the backends of a stopped farm unknown and never up', async () => {
  const { world, poll, page } = await givenAppliance(recordedWorld(), { runs: ['farms', 'backends'] });

  for (const farm of world.farms.values()) farm.running = false;
  await poll('farms');
  await poll('backends');

  expect(seriesOf(await page(), 'zlb_backend_status', { status: 'up' }).filter((line) => line.endsWith(' 1'))).toEqual(
    [],
  );
});

it('shows a status word that it does not know as unknown, and says so once', async () => {
  const { world, poll, page, logged } = await givenAppliance(recordedWorld(), { runs: ['farms'] });

  const farm = world.farms.get('webshop');
  if (farm) farm.runState = 'unreadable';
  await poll('farms');
  await poll('farms');

  expect(stateOf(await page(), 'zlb_farm_status', { farm: 'webshop' })).toBe('unknown');
  expect(logged.filter(({ msg }) => String(msg).startsWith('status not known'))).toHaveLength(1);
});

it('leaves a collector out where the edition lacks its route, without asking again, until the version changes', async () => {
  const { appliance, world, poll, page } = await givenAppliance(recordedWorld(), {
    runs: ['appliance', 'cluster', 'connections'],
  });
  const asked = appliance.requests.length;

  await poll('cluster');

  expect(appliance.requests).toHaveLength(asked);
  expect(seriesOf(await page(), 'zlb_collector_success', { collector: 'cluster' })).toEqual([]);
  expect(valueOf(await page(), 'zlb_collector_skipped_total', { collector: 'cluster', reason: 'unsupported' })).toBe(1);

  world.productVersion = '7.9.1';
  await poll('appliance');
  await poll('cluster');
  expect(appliance.requests.at(-1)?.route).toBe('GET /system/cluster/nodes/localhost');
});

it('reads what a restricted user may read, and needs no root key', async () => {
  const [world] = healthyPair();
  world.groups.set('monitoring', { name: 'monitoring', role: {}, farms: ['*'], interfaces: ['*'] });
  world.users.set('prometheus', {
    name: 'prometheus',
    key: 'restricted-key',
    enabled: true,
    password: 'unused',
    group: 'monitoring',
  });
  const all = [
    'farms',
    'appliance',
    'activation',
    'summary',
    'certificates',
    'backends',
    'interfaces',
    'system',
    'vpn',
    'cluster',
    'connections',
    'farm_config',
    'packages',
    'backups',
  ];

  const { page } = await givenAppliance(world, { apiKey: 'restricted-key', runs: all });

  expect(seriesOf(await page(), 'zlb_collector_success').filter((line) => line.endsWith(' 0'))).toEqual([]);
  expect(stateOf(await page(), 'zlb_activation_status')).toBe('activated');
  expect(valueOf(await page(), 'zlb_activation_not_after_timestamp_seconds'), 'from the days of /info').toBeGreaterThan(
    Date.now() / 1_000,
  );
  expect(
    valueOf(await page(), 'zlb_activation_not_before_timestamp_seconds'),
    'the text form is for root alone',
  ).toBeUndefined();
});

it('finds an older release under its path, with numbers as strings and a datalink farm without statistics', async () => {
  const { page } = await givenAppliance(olderEnterpriseWorld(), {
    runs: ['farms', 'backends', 'appliance', 'summary', 'interfaces'],
  });

  expect(seriesOf(await page(), 'zlb_collector_success').filter((line) => line.endsWith(' 0'))).toEqual([]);
  expect(valueOf(await page(), 'zlb_up')).toBe(1);
  expect(seriesOf(await page(), 'zlb_farm_info', { profile: 'datalink' })).toHaveLength(1);
  expect(await page()).not.toMatch(/NaN|undefined/);
});

it('tells a deactivated appliance from one that does not answer', async () => {
  const { page } = await givenAppliance(deactivatedWorld(), { runs: ['farms', 'activation'] });

  expect(stateOf(await page(), 'zlb_activation_status')).toBe('deactivated');
  expect(valueOf(await page(), 'zlb_up')).toBe(1);
});

it('says unknown of an activation that nobody could ask for', async () => {
  const [world] = healthyPair();
  const { appliance, poll, page } = await givenAppliance(world);
  appliance.fail('*', { kind: 'status', status: 500 });

  await poll('activation');

  expect(stateOf(await page(), 'zlb_activation_status')).toBe('unknown');
  expect(valueOf(await page(), 'zlb_collector_success', { collector: 'activation' })).toBe(0);
});

it('counts interface traffic from the appliance, so that a reboot is a reset and nothing else', async () => {
  const world = busyWorld();
  world.moving = true;
  const { poll, page } = await givenAppliance(world, { runs: ['interfaces'] });
  const before = valueOf(await page(), 'zlb_interface_receive_bytes_total', { interface: 'eth0' }) ?? Number.NaN;

  world.reboot();
  await poll('interfaces');

  expect(valueOf(await page(), 'zlb_interface_receive_bytes_total', { interface: 'eth0' })).toBeLessThan(before);
});

it('tells two backends of one service with the same address apart by their ids', async () => {
  const world = recordedWorld();
  world.farms.set(
    'twins',
    l4Farm({
      name: 'twins',
      vip: '192.168.101.22',
      vport: '81',
      backends: [l4Backend(0, '10.0.0.1', 80), l4Backend(1, '10.0.0.1', 80), l4Backend(2, '10.0.0.2', 80)],
    }),
  );

  const { page } = await givenAppliance(world, { runs: ['farms', 'backends'] });

  const names = seriesOf(await page(), 'zlb_backend_info', { farm: 'twins' }).map(
    (line) => /backend="([^"]*)"/.exec(line)?.[1],
  );
  expect(names).toEqual(['10.0.0.1:80#0', '10.0.0.1:80#1', '10.0.0.2:80']);
});

it('keeps the page valid whatever an appliance calls its objects', async () => {
  const world = recordedWorld();
  const hostile = [
    'quo"te',
    'back\\slash',
    'new\nline',
    'tab\tand\u0000null',
    'x'.repeat(10_000),
    `${'x'.repeat(10_000)}y`,
    '\u{1F4A9}\ud800',
    '{}, 1 2\n# HELP zlb_up',
  ];
  for (const name of hostile)
    world.certificates.set(
      name,
      certificate(name, { commonName: name, issuer: name, notBefore: 0, notAfter: 4_102_444_800_000 }),
    );
  world.farms.set(
    'odd',
    httpFarm({
      name: 'odd',
      vip: '192.168.101.21',
      vport: '8099',
      services: [service('sér"vice\n', { backends: [httpBackend(0, 'bäck"end', 80)] })],
    }),
  );

  const { page } = await givenAppliance(world, { runs: ['farms', 'certificates', 'backends', 'summary'] });

  expect(seriesOf(await page(), 'zlb_certificate_info')).toHaveLength(6 + hostile.length);
  for (const line of (await page()).trim().split('\n'))
    expect(line).toMatch(/^(# (HELP|TYPE) |[a-z_]+\{[^\n]*\} -?[\d.e+-]+$)/);
  const verdict = spawnSync('promtool', ['check', 'metrics'], { input: await page(), encoding: 'utf8' });
  if (!verdict.error) expect(verdict).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

it('stays within its limit of series, keeps the aggregates and counts what it left out', async () => {
  const { page } = await givenAppliance(largeWorld({ farms: 5, backendsPerFarm: 200 }), {
    maxSeries: 2_000,
    runs: ['farms', 'backends'],
  });

  expect(seriesOf(await page(), 'zlb_farm_status', { status: 'up' })).toHaveLength(5);
  expect(seriesOf(await page(), 'zlb_farm_backends', { status: 'up' })).toHaveLength(5);
  expect(valueOf(await page(), 'zlb_exporter_series_dropped_total', { reason: 'limit' })).toBeGreaterThan(1_000);
  expect(valueOf(await page(), 'zlb_exporter_series')).toBeLessThanOrEqual(2_000);
});

it('shows nothing about an appliance before it was asked, and no zero for what it does not know', async () => {
  const { page, pass } = await givenAppliance(recordedWorld());
  expect(await page()).toBe('');

  pass(minuteMs);
  expect(await page(), 'nothing is made up by waiting').toBe('');
});
