import { expect, it } from 'vitest';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { polled } from '../support/poller.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';

it('the daemon reads everything for a restricted user, without a root key', async () => {
  const [world] = healthyPair();
  world.groups.set('monitoring', { name: 'monitoring', role: {}, farms: ['*'], interfaces: ['*'] });
  world.users.set('prometheus', {
    name: 'prometheus',
    key: 'restricted-key',
    enabled: true,
    password: 'unused',
    group: 'monitoring',
  });
  const all = polled.map(({ name }) => name);

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

it('the daemon shows the key neither in metrics nor in the log when the appliance echoes it as an address', async () => {
  const world = recordedWorld();
  for (const farm of world.farms.values()) farm.vip = 'canary-key';

  const { page, logged } = await givenAppliance(world, { runs: ['farms', 'summary', 'backends'] });

  expect(await page()).toMatch(/zlb_farm_info\{.*vip="\[redacted\]"/);
  expect((await page()) + JSON.stringify(logged)).not.toContain('canary-key');
});
