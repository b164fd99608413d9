import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld } from '../../simulator/scenes/expiring.ts';
import { olderEnterpriseWorld } from '../../simulator/scenes/older.ts';
import { byFile, byName, createWorld } from '../../simulator/world-creation.ts';
import { largeWorld } from '../../simulator/scenes/sizes.ts';
import { certificate, httpBackend, httpFarm, l4Backend, l4Farm, service } from '../../simulator/world-parts.ts';
import { givenAppliance, minuteMs } from '../support/given-appliance.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';

it('removes everything about a deleted farm with the next list of farms', async () => {
  const { world, poll, page } = await givenAppliance(recordedWorld(), { runs: ['farms', 'backends', 'farm_config'] });
  expect(seriesOf(await page(), 'zlb_backend_status', { farm: 'webshop', status: 'up' })).toHaveLength(4);

  world.farms.delete('webshop');
  await poll('farms');

  expect(await page()).not.toContain('farm="webshop"');
});

it('counts and logs a change of state once, and none for a new object', async () => {
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

it('shows the backends of a stopped farm as unknown, never as up', async () => {
  const { world, poll, page } = await givenAppliance(recordedWorld(), { runs: ['farms', 'backends'] });

  for (const farm of world.farms.values()) farm.running = false;
  await poll('farms');
  await poll('backends');

  expect(seriesOf(await page(), 'zlb_backend_status', { status: 'up' }).filter((line) => line.endsWith(' 1'))).toEqual(
    [],
  );
});

it('shows the number -1 as an unknown state, which is no news for the log', async () => {
  const { world, poll, page, logged } = await givenAppliance(recordedWorld(), { runs: ['farms'] });

  const farm = world.farms.get('webshop');
  if (farm) farm.runState = 'unreadable';
  await poll('farms');
  await poll('farms');

  expect(stateOf(await page(), 'zlb_farm_status', { farm: 'webshop' })).toBe('unknown');
  expect(logged.filter(({ msg }) => String(msg).startsWith('status not known'))).toEqual([]);
});

it('leaves a collector out if the edition lacks its route, until the version changes', async () => {
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

it('reads everything for a restricted user, without a root key', async () => {
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
    'letsencrypt',
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

it('distinguishes a deactivated appliance from one that does not answer', async () => {
  const { page } = await givenAppliance(deactivatedWorld(), { runs: ['farms', 'activation'] });

  expect(stateOf(await page(), 'zlb_activation_status')).toBe('deactivated');
  expect(valueOf(await page(), 'zlb_up')).toBe(1);
});

it('shows an unread activation as unknown', async () => {
  const [world] = healthyPair();
  const { appliance, poll, page } = await givenAppliance(world);
  appliance.fail('*', { kind: 'status', status: 500 });

  await poll('activation');

  expect(stateOf(await page(), 'zlb_activation_status')).toBe('unknown');
  expect(valueOf(await page(), 'zlb_collector_success', { collector: 'activation' })).toBe(0);
});

it('counts interface traffic of the appliance, so that a reboot is only a reset', async () => {
  const world = busyWorld();
  world.moving = true;
  const { poll, page } = await givenAppliance(world, { runs: ['interfaces'] });
  const before = valueOf(await page(), 'zlb_interface_receive_bytes_total', { interface: 'eth0' }) ?? Number.NaN;

  world.reboot();
  await poll('interfaces');

  expect(valueOf(await page(), 'zlb_interface_receive_bytes_total', { interface: 'eth0' })).toBeLessThan(before);
});

it('distinguishes two backends of one service with the same address by their ids', async () => {
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

it('writes valid text for any names of objects', async () => {
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

it('shows nothing of an appliance before the first poll, and no zero for unknown values', async () => {
  const { page, pass } = await givenAppliance(recordedWorld());
  const ofAppliance = async () => (await page()).match(/^# HELP (?!.*\(this exporter\)\.$).*$/gm);
  expect(await ofAppliance()).toBeNull();

  pass(minuteMs);
  expect(await ofAppliance(), 'nothing is made up by waiting').toBeNull();
  expect(await page()).not.toMatch(/^zlb_up/m);
});

it.each([
  ['newest', 'relianoid', '/certificates/letsencrypt'],
  ['older', 'skudonet', '/certificates/letsencryptz'],
] as const)('finds the ACME certificates of a %s Community release (%s) under %s', async (release, product, route) => {
  const world = createWorld({
    release,
    product,
    certificates: byFile([
      certificate('le_example_com.pem', { notBefore: Date.now(), notAfter: Date.now() + minuteMs }),
    ]),
    acme: byName([
      {
        name: 'le.example.com',
        domains: ['le.example.com'],
        renewal: { farm: 'site', vip: null, force: false, restart: true },
      },
    ]),
  });
  const { appliance, page } = await givenAppliance(world, { runs: ['letsencrypt', 'certificates'] });

  const labels = { file: 'le_example_com.pem', autorenewal: 'true', mode: 'farm', restart: 'true' };
  expect(valueOf(await page(), 'zlb_letsencrypt_certificate_info', labels)).toBe(1);
  expect(valueOf(await page(), 'zlb_certificate_not_after_timestamp_seconds', { file: labels.file })).toBeDefined();
  expect(appliance.requests.map((each) => each.route)).toContain(`GET ${route}`);
});
