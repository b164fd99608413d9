import { expect, it, vi } from 'vitest';
import { seriesOf, valueOf } from '../../support/samples.ts';
import { answering, givenPoller, wellAnswers } from './given-poller.ts';

it.each(['bad_request', 'not_found'] as const)(
  'a farm that is refused once during its deletion is not counted as a failure, a persistent one is: %s',
  async (fails) => {
    let isRefused = false;
    const seen = { refusals: 0 };
    async function untilRefused(times: number) {
      for (const until = times; seen.refusals < until; ) await vi.advanceTimersByTimeAsync(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const { poller, page, lines } = givenPoller({
      names: ['farms', 'backends'],
      answer(key, { farmname }) {
        if (!isRefused || key !== 'listFarmBackends' || farmname !== 'db') return answering()(key);
        seen.refusals += 1;
        return { fails };
      },
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(90_000);
    const warnings = () => lines.filter(({ msg }) => msg === 'poll failed');
    const errors = async () => seriesOf(await page(), 'zlb_collector_errors_total', { collector: 'backends' });
    expect(valueOf(await page(), 'zlb_collector_success', { collector: 'backends' })).toBe(1);

    isRefused = true;
    await untilRefused(1);
    expect(warnings()).toEqual([]);
    expect((await errors()).filter((line) => !line.endsWith(' 0'))).toEqual([]);

    await untilRefused(2);
    expect(warnings()).toMatchObject([{ reason: fails, farm: 'db' }]);
    expect((await errors()).filter((line) => !line.endsWith(' 0'))).toHaveLength(1);
  },
);

it('a farm that is refused repeatedly and no longer exists is not counted as a failure', async () => {
  const { poller, lines } = givenPoller({
    names: ['farms', 'backends'],
    answer(key, { farmname }) {
      if (key === 'readFarmsSummary') return { body: { params: { lslb: [{ name: 'shop', profile: 'http' }] } } };
      return farmname === 'db' ? { fails: 'bad_request' } : answering()(key);
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(240_000);

  expect(lines.filter(({ msg }) => msg === 'poll failed')).toEqual([]);
});

it('a new farm that is refused and missing in the next list is not counted as a failure', async () => {
  const { params: farms } = wellAnswers.listFarms as { readonly params: readonly object[] };
  let isThere = false;
  const { poller, page, lines } = givenPoller({
    names: ['farms', 'backends', 'farm_config'],
    answer(key, { farmname }) {
      if (key === 'listFarms' && isThere)
        return { body: { params: [...farms, { farmname: 'short', profile: 'http', status: 'up' }] } };
      return farmname === 'short' ? { fails: 'bad_request' } : answering()(key);
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(65_000);
  isThere = true;
  await vi.advanceTimersByTimeAsync(32_000);
  isThere = false;
  await vi.advanceTimersByTimeAsync(90_000);

  const failures = lines.filter(({ msg, farm }) => msg === 'poll failed' && farm === 'short');
  expect(failures).toEqual([]);
  expect(await page()).not.toContain('farm="short"');
});

it('a farm that is deleted while its own response is under way leaves nothing on the page', async () => {
  let isDeleting = false;
  const listed = { shop: true };
  const { poller, page } = givenPoller({
    names: ['farms', 'backends'],
    maxConcurrent: 2,
    answer(key) {
      if (key !== 'listFarms') return answering()(key);
      // In trouble, so that it is read each minute.
      const shop = { farmname: 'shop', profile: 'http', status: 'problem' };
      return { body: { params: listed.shop ? [shop] : [] } };
    },
    callMs(key, { farmname }) {
      if (!isDeleting || key !== 'readFarmStats' || farmname !== 'shop') return 10;
      listed.shop = false;
      return 4_000;
    },
  });
  poller.start();
  await vi.advanceTimersByTimeAsync(90_000);
  expect(seriesOf(await page(), 'zlb_backend_info', { farm: 'shop' })).toHaveLength(1);

  isDeleting = true;
  while (listed.shop) await vi.advanceTimersByTimeAsync(1_000);
  // The answer has come, and the next list has not, which would take its reading away.
  await vi.advanceTimersByTimeAsync(5_000);

  expect(seriesOf(await page(), 'zlb_backend_info', { farm: 'shop' })).toEqual([]);
});
