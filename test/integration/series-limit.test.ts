import { expect, it } from 'vitest';
import { largeWorld } from '../../simulator/scenes/sizes.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, valueOf } from '../support/samples.ts';

const farms = 100;
const backendsPerFarm = 200;
const details = [
  ['zlb_backend_status', 4],
  ['zlb_backend_established_connections', 1],
  ['zlb_backend_pending_connections', 1],
  ['zlb_backend_weight', 1],
  ['zlb_backend_priority', 1],
  ['zlb_backend_info', 1],
] as const;

/** How many series of a family each farm has. */
function byFarm(page: string, family: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, farm = ''] of page.matchAll(new RegExp(`^${family}\\{[^}]*?farm="([^"]*)"`, 'gm')))
    counts.set(farm, (counts.get(farm) ?? 0) + 1);
  return counts;
}

it('keeps every sum of 20,000 backends under the limit, and leaves out details by whole families of a farm, the same at each poll', async () => {
  const { page, poll, logged } = await givenAppliance(largeWorld({ farms, backendsPerFarm }), {
    runs: ['farms', 'farm_config', 'backends'],
  });

  const first = await page();
  expect(seriesOf(first, 'zlb_farm_status', { status: 'up' })).toHaveLength(farms);
  expect(seriesOf(first, 'zlb_farm_backends')).toHaveLength(farms * 4);
  expect(seriesOf(first, 'zlb_farm_sessions')).toHaveLength(farms);
  expect(seriesOf(first, 'zlb_farm_health_check')).toHaveLength(farms);
  expect(valueOf(first, 'zlb_exporter_series')).toBeLessThanOrEqual(50_000);
  expect(valueOf(first, 'zlb_exporter_series'), 'the room is used').toBeGreaterThan(40_000);
  expect(valueOf(first, 'zlb_exporter_series_dropped_total', { reason: 'limit' })).toBeGreaterThan(100_000);
  for (const [family, seriesPerBackend] of details)
    for (const [farm, series] of byFarm(first, family))
      expect(series, `${family} of ${farm}`).toBe(backendsPerFarm * seriesPerBackend);
  expect(byFarm(first, 'zlb_backend_status').size).toBeGreaterThan(20);

  for (const collector of ['backends', 'farm_config', 'farms', 'backends']) {
    await poll(collector);
    for (const [family] of details) expect(byFarm(await page(), family)).toEqual(byFarm(first, family));
  }

  const lines = logged.filter(({ msg }) => msg === 'series are left out of the page');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ reason: 'limit', remedy: expect.stringContaining('compact') as string });
}, 120_000);

it('takes details back rather than leave out a farm that comes later, and gives them again when it is gone', async () => {
  const world = largeWorld({ farms: 5, backendsPerFarm: 20 });
  const { page, poll } = await givenAppliance(world, { maxSeries: 450, runs: ['backends'] });
  expect(await page(), 'no farm is known yet').not.toContain('zlb_backend_status{');

  await poll('farms');
  await poll('backends');
  const before = byFarm(await page(), 'zlb_backend_status');
  expect(before.size).toBeGreaterThan(0);
  const another = largeWorld({ farms: 30, backendsPerFarm: 1 }).farms;
  for (const [name, farm] of another) if (!world.farms.has(name)) world.farms.set(name, farm);
  await poll('farms');

  expect(seriesOf(await page(), 'zlb_farm_status', { status: 'up' })).toHaveLength(30);
  const between = byFarm(await page(), 'zlb_backend_status');
  expect(between.size).toBeLessThan(before.size);
  expect(valueOf(await page(), 'zlb_exporter_series')).toBeLessThanOrEqual(450);

  for (const name of another.keys()) if (Number(name.slice(-4)) > 5) world.farms.delete(name);
  await poll('farms');
  await poll('backends');
  expect(byFarm(await page(), 'zlb_backend_status')).toEqual(before);
});

it('shows 20,000 backends in compact mode below the limit: those down or in maintenance, all sums and nothing else of backends', async () => {
  const { page } = await givenAppliance(largeWorld({ farms, backendsPerFarm }), {
    compact: true,
    runs: ['farms', 'farm_config', 'backends'],
  });

  // Every fifth of 200 is down, and every seventh of the others is in maintenance.
  expect(
    seriesOf(await page(), 'zlb_farm_backends', { farm: 'farm-0001' }).map((line) => line.match(/\d+$/)?.[0]),
  ).toEqual(['137', '40', '23', '0']);
  expect(seriesOf(await page(), 'zlb_farm_backends')).toHaveLength(farms * 4);
  expect(seriesOf(await page(), 'zlb_backend_status')).toHaveLength(farms * 63 * 4);
  expect(seriesOf(await page(), 'zlb_backend_info')).toHaveLength(farms * 63);
  expect(await page()).not.toMatch(/^zlb_backend_(?!status|info)/m);
  expect(seriesOf(await page(), 'zlb_farm_health_check')).toHaveLength(farms);
  expect(valueOf(await page(), 'zlb_exporter_series_dropped_total', { reason: 'limit' })).toBe(0);
}, 60_000);
