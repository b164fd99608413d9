import { expect, it, vi } from 'vitest';
import { polled } from '../../support/poller.ts';
import { seriesOf, valueOf } from '../../support/samples.ts';
import { answering, givenPoller } from './given-poller.ts';

/** An appliance that needs 0.6 s for a call, with these farms. */
function givenAppliance(farms: string[]) {
  return givenPoller({
    names: polled.map(({ name }) => name),
    callMs: 600,
    maxBusyRatio: 0.25,
    answer: (key) =>
      key === 'listFarms'
        ? { body: { params: farms.map((farmname) => ({ farmname, profile: 'http', status: 'up' })) } }
        : answering()(key),
  });
}

it('the poller reads farms, activation, certificates and backends first, and is ready after them', async () => {
  const { poller, asked } = givenAppliance(Array.from({ length: 11 }, (_, index) => `shop-${index}`));
  poller.start();

  let seconds = 0;
  for (; !poller.hadFirstRuns && seconds < 300; seconds += 1) await vi.advanceTimersByTimeAsync(1_000);

  expect(seconds).toBeLessThan(60);
  const keys = asked.map(({ key }) => key);
  expect(keys.filter((key) => key === 'readFarmStats')).toHaveLength(11);
  const later = ['listPackages', 'listBackups', 'listAcmeCertificates', 'listFirewallPackages', 'readFarm'];
  expect(keys.filter((key) => later.includes(key))).toEqual([]);
});

it('the poller reads the backends after a slow first farm list, also with two calls at a time', async () => {
  const { poller, asked, page } = givenPoller({
    names: ['farms', 'certificates', 'backends'],
    maxConcurrent: 2,
    callMs: (key) => (key === 'listFarms' ? 5_000 : 50),
    answer: answering(),
  });
  poller.start();

  await vi.advanceTimersByTimeAsync(6_000);

  expect(asked.filter(({ key }) => key === 'readFarmStats' || key === 'listFarmBackends')).toHaveLength(2);
  expect(seriesOf(await page(), 'zlb_collector_skipped_total')).toEqual([]);
});

it('the poller probes the farms right after their first list, and not a minute later', async () => {
  const { poller, page } = givenPoller({ names: ['farms', 'vip'], callMs: 5_000, answer: answering() });
  poller.start();

  await vi.advanceTimersByTimeAsync(6_000);

  expect(valueOf(await page(), 'zlb_collector_success', { collector: 'vip' })).toBe(1);
  expect(seriesOf(await page(), 'zlb_collector_skipped_total')).toEqual([]);
});

it('the poller reads the backends of a new farm at once, however rarely all of them are read', async () => {
  const farms = Array.from({ length: 61 }, (_, index) => `shop-${index}`);
  const { poller, page } = givenAppliance(farms);
  poller.start();
  await vi.advanceTimersByTimeAsync(1_800_000);

  farms.push('new-1', 'new-2');
  await vi.advanceTimersByTimeAsync(240_000);

  for (const farm of ['new-1', 'new-2'])
    expect(seriesOf(await page(), 'zlb_farm_backends', { farm }).length, farm).toBeGreaterThan(0);
});

it('the poller is ready although a deactivated appliance lets it read nothing but the activation', async () => {
  const { poller, page } = givenPoller({
    names: ['farms', 'activation', 'certificates', 'backends'],
    answer: () => ({ fails: 'unlicensed' }),
  });
  poller.start();

  await vi.advanceTimersByTimeAsync(30_000);

  expect(poller.hadFirstRuns).toBe(true);
  const skipped = { collector: 'certificates', reason: 'unlicensed' };
  expect(valueOf(await page(), 'zlb_collector_skipped_total', skipped)).toBe(1);
});

it('the poller repeats at once what failed while the appliance was away, and does not wait ten minutes for its schedule', async () => {
  let isAway = true;
  const { poller, asked, page } = givenPoller({
    names: ['farms', 'certificates'],
    answer: (key) => (isAway ? { fails: 'connect' } : answering()(key)),
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked.map(({ key }) => key)).toContain('listCertificates');

  isAway = false;
  await vi.advanceTimersByTimeAsync(40_000);

  expect(valueOf(await page(), 'zlb_collector_success', { collector: 'certificates' })).toBe(1);
});
