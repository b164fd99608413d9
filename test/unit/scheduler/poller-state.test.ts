import { describe, expect, it, vi } from 'vitest';
import { seriesOf, stateOf, valueOf } from '../../support/samples.ts';
import { type Answer, answering, givenPoller, upFarms } from './given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * An appliance that a test can silence, or make one of the Enterprise edition without a licence.
 */
function givenAppliance(
  names: readonly string[],
  options: Partial<Pick<Parameters<typeof givenPoller>[0], 'maxStaleMs' | 'callMs' | 'maxBusyRatio'>> = {},
) {
  let answer: (key: Parameters<ReturnType<typeof answering>>[0]) => Answer = answering();
  const given = givenPoller({ names, answer: (key) => answer(key), ...options });
  given.poller.start();
  return {
    ...given,
    answers(others: typeof answer) {
      answer = others;
    },
  };
}

describe('a poller that replaces another', () => {
  it('shows inherited readings only as long as its own max_stale permits', async () => {
    const { page, replace, answers } = givenAppliance(['farms'], { maxStaleMs: 3 * hourMs });
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(stateOf(await page(), 'zlb_farm_status', { farm: 'shop' })).toBe('up');
    answers(() => ({ fails: 'timeout' }));

    const successor = await replace({ names: ['farms'], maxStaleMs: 2 * minuteMs });
    successor.start();
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(stateOf(await page(), 'zlb_farm_status', { farm: 'shop' })).toBe('up');
    await vi.advanceTimersByTimeAsync(minuteMs);

    expect(seriesOf(await page(), 'zlb_farm_status')).toEqual([]);
    expect(valueOf(await page(), 'zlb_up')).toBe(0);
  });

  it.each(['connect', 'timeout', 'unauthorized'] as const)(
    'shows zlb_up 0 until a response comes, if the newest call failed with %s',
    async (fails) => {
      const { page, replace, answers } = givenAppliance(['farms']);
      await vi.advanceTimersByTimeAsync(minuteMs);
      answers(() => ({ fails }));
      await vi.advanceTimersByTimeAsync(minuteMs);
      expect(valueOf(await page(), 'zlb_up')).toBe(0);

      const successor = await replace({ names: ['farms'] });
      successor.publish();
      const atOnce = valueOf(await page(), 'zlb_up');
      answers(answering());
      successor.start();
      await vi.advanceTimersByTimeAsync(secondMs);

      expect(atOnce).toBe(0);
      expect(valueOf(await page(), 'zlb_up')).toBe(1);
    },
  );

  it('inherits which routes are missing, and does not request them again at once', async () => {
    const lacking = givenAppliance(['farms', 'vpn']);
    lacking.answers(answering({ listVpns: { fails: 'not_found' } }));
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
    const before = lacking.asked.filter(({ key }) => key === 'listVpns').length;

    const successor = await lacking.replace({ names: ['farms', 'vpn'] });
    successor.start();
    await vi.advanceTimersByTimeAsync(minuteMs);

    expect(lacking.asked.filter(({ key }) => key === 'listVpns')).toHaveLength(before);
    expect(successor.status().collectors.find(({ name }) => name === 'vpn')).toMatchObject({ isSupported: false });
  });

  it('shows a reading that cannot be renewed no longer than that, although the appliance responds', async () => {
    const names = ['farms', 'backends'];
    const { page, replace, answers } = givenAppliance(names, { maxStaleMs: 3 * hourMs });
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(seriesOf(await page(), 'zlb_backend_status')).not.toEqual([]);
    answers(answering({ readFarmStats: { fails: 'server_error' }, listFarmBackends: { fails: 'server_error' } }));

    const successor = await replace({ names, maxStaleMs: 2 * minuteMs });
    successor.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);

    expect(valueOf(await page(), 'zlb_up')).toBe(1);
    expect(seriesOf(await page(), 'zlb_backend_status')).toEqual([]);
  });

  it('shows inherited readings longer if its max_stale is longer', async () => {
    const { page, replace, answers } = givenAppliance(['farms'], { maxStaleMs: 2 * minuteMs });
    await vi.advanceTimersByTimeAsync(minuteMs);
    answers(() => ({ fails: 'timeout' }));

    await replace({ names: ['farms'], maxStaleMs: hourMs });
    await vi.advanceTimersByTimeAsync(30 * minuteMs);

    expect(stateOf(await page(), 'zlb_farm_status', { farm: 'shop' })).toBe('up');
  });

  it('keeps the extended life of a reading until there is a newer one', async () => {
    const names = ['farms', 'backends'];
    const farms = upFarms(8);
    const { page, replace, answers } = givenAppliance(names, {
      callMs: (key) => (key === 'readFarmStats' ? 4 * secondMs : 10),
      maxBusyRatio: 0.05,
    });
    answers(answering({ listFarms: { body: { params: farms } } }));
    const farmsShown = async (): Promise<number> => {
      const text = await page();
      return farms.filter(({ farmname: farm }) => seriesOf(text, 'zlb_backend_status', { farm }).length > 0).length;
    };
    await vi.advanceTimersByTimeAsync(2 * hourMs);
    expect(valueOf(await page(), 'zlb_collector_round_seconds', { collector: 'backends' })).toBeGreaterThanOrEqual(600);
    expect(await farmsShown()).toBe(8);

    const successor = await replace({ names });
    successor.start();

    const shown = new Set<number>();
    for (let minute = 0; minute < 30; minute += 1) {
      shown.add(await farmsShown());
      await vi.advanceTimersByTimeAsync(minuteMs);
    }
    expect(shown).toEqual(new Set([8]));
  });

  it('keeps the pauses between calls, even if it is replaced many times', async () => {
    const slow = { callMs: 4 * secondMs, maxBusyRatio: 0.05 };
    const names = ['farms', 'certificates'];
    const { replace, asked } = givenAppliance(names, slow);
    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    for (let reload = 0; reload < 20; reload += 1) {
      (await replace({ names })).start();
      await vi.advanceTimersByTimeAsync(47 * secondMs);
    }

    const times = asked.map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual((4 * secondMs) / 0.05 - 1);
  });

  it('ignores a farm list that is no longer read', async () => {
    const { page, replace, answers, asked } = givenAppliance(['farms', 'backends']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(seriesOf(await page(), 'zlb_backend_status')).not.toEqual([]);
    const before = asked.length;
    answers(answering({ listFarms: { body: { params: [] } } }));

    const successor = await replace({ names: ['backends'] });
    successor.start();
    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    expect(asked.slice(before)).toEqual([]);
    expect(
      valueOf(await page(), 'zlb_collector_skipped_total', { collector: 'backends', reason: 'farms_unknown' }),
    ).toBeGreaterThan(0);
    expect(seriesOf(await page(), 'zlb_backend_status')).toEqual([]);
  });

  it('does not keep an appliance as deactivated if nothing reads that any more', async () => {
    const { replace, answers } = givenAppliance(['farms', 'activation']);
    answers(() => ({ fails: 'unlicensed' }));
    await vi.advanceTimersByTimeAsync(10 * minuteMs);

    const successor = await replace({ names: ['farms'] });

    expect(successor.status().deactivated).toBe(false);
  });

  it('removes at once the series without a reading of a disabled collector', async () => {
    const { page, replace, answers } = givenAppliance(['farms', 'system']);
    answers(() => ({ fails: 'server_error' }));
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    expect(valueOf(await page(), 'zlb_farms_with_state')).toBe(0);

    await replace({ names: ['system'] });

    expect(valueOf(await page(), 'zlb_farms_with_state')).toBeUndefined();
  });

  it('removes at once the farms that it does not poll', async () => {
    const { page, replace, answers } = givenAppliance(['farms', 'backends']);
    await vi.advanceTimersByTimeAsync(minuteMs);
    answers(() => ({ fails: 'timeout' }));

    await replace({ names: ['farms', 'backends'], watches: (farm) => farm !== 'shop' });

    expect(seriesOf(await page(), 'zlb_backend_status', { farm: 'shop' })).toEqual([]);
    expect(seriesOf(await page(), 'zlb_backend_status', { farm: 'db' })).not.toEqual([]);
  });
});

it('a poller that was closed before its start does not start later', async () => {
  const { poller, asked } = givenPoller({ names: ['farms'], answer: answering() });
  await poller.close();

  poller.start();

  expect(vi.getTimerCount()).toBe(0);
  expect(asked).toEqual([]);
});

it('a reading that takes too much memory is an error, and the poller goes on', async () => {
  const { poller, page } = givenPoller({ names: ['farms'], answer: answering(), maxBytes: 10 });
  poller.start();

  await vi.advanceTimersByTimeAsync(5_000);

  const error = { collector: 'farms', reason: 'oversize' };
  expect(valueOf(await page(), 'zlb_collector_errors_total', error)).toBe(1);
  expect(valueOf(await page(), 'zlb_up')).toBe(1);
});
