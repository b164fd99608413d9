import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { certificate, httpBackend, httpFarm, service } from '../../simulator/world-parts.ts';
import { collectors } from '../../src/collectors/registry.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';

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
  const all = collectors.filter(({ enabled }) => enabled).map(({ name }) => name);

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
    '}',
    '{code="200"} 1',
    `a${' '.repeat(300)}b`,
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
