import { expect, it } from 'vitest';
import { largeWorld } from '../../simulator/scenes/sizes.ts';
import { givenAppliance } from '../support/given-appliance.ts';
import { seriesOf, valueOf } from '../support/samples.ts';

const farms = 20;
const backendsPerFarm = 50;
const runs = ['farms', 'farm_config', 'backends'];
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

it('keeps every sum under the limit, and leaves out details by whole families of a farm, the same at each poll', async () => {
  const maxSeries = 3_000;
  const { page, poll, logged } = await givenAppliance(largeWorld({ farms, backendsPerFarm }), { maxSeries, runs });

  const first = await page();
  expect(seriesOf(first, 'zlb_farm_status', { status: 'up' })).toHaveLength(farms);
  expect(seriesOf(first, 'zlb_farm_backends')).toHaveLength(farms * 4);
  expect(seriesOf(first, 'zlb_farm_health_check')).toHaveLength(farms);
  expect(valueOf(first, 'zlb_exporter_series')).toBeLessThanOrEqual(maxSeries);
  expect(valueOf(first, 'zlb_exporter_series'), 'the room is used').toBeGreaterThan(0.75 * maxSeries);
  expect(valueOf(first, 'zlb_exporter_series_dropped_total', { reason: 'limit' })).toBeGreaterThan(1_000);
  for (const [family, seriesPerBackend] of details)
    for (const [farm, series] of byFarm(first, family))
      expect(series, `${family} of ${farm}`).toBe(backendsPerFarm * seriesPerBackend);
  expect(byFarm(first, 'zlb_backend_status').size).toBeGreaterThan(2);

  for (const collector of ['backends', 'farm_config', 'farms', 'backends']) {
    await poll(collector);
    for (const [family] of details) expect(byFarm(await page(), family)).toEqual(byFarm(first, family));
  }

  const lines = logged.filter(({ msg }) => msg === 'series are left out of the page');
  expect(lines).toMatchObject([{ reason: 'limit', remedy: expect.stringContaining('compact') }]);
});

it('shows in compact mode the backends that are down or in maintenance, all sums and nothing else of backends', async () => {
  const { page } = await givenAppliance(largeWorld({ farms, backendsPerFarm }), { compact: true, runs });

  // Every fifth of 50 is down, and every seventh of the others is in maintenance.
  const text = await page();
  const sums = seriesOf(text, 'zlb_farm_backends', { farm: 'farm-0001' }).map((line) => line.match(/\d+$/)?.[0]);
  const others = Number(sums[1]) + Number(sums[2]);
  expect(sums.map(Number).reduce((sum, count) => sum + count)).toBe(backendsPerFarm);
  expect(others).toBeGreaterThan(10);
  expect(seriesOf(text, 'zlb_backend_status')).toHaveLength(farms * others * 4);
  expect(seriesOf(text, 'zlb_backend_info')).toHaveLength(farms * others);
  expect(text).not.toMatch(/^zlb_backend_(?!status|info)/m);
  expect(valueOf(text, 'zlb_exporter_series_dropped_total', { reason: 'limit' })).toBe(0);
});
