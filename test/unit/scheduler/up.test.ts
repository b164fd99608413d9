import { expect, it, vi } from 'vitest';
import { polled } from '../../support/poller.ts';
import { valueOf } from '../../support/samples.ts';
import { answering, givenPoller, upFarms } from './given-poller.ts';

/** A linear congruential generator: the same outages in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

it.each([
  { farms: 2, callMs: 50, listMs: 50 },
  { farms: 61, callMs: 300, listMs: 6_000 },
])(
  'zlb_up reports within 30 s that an appliance of $farms farms is away, and within 20 s that it is back',
  async (size) => {
    let outage: 'refuses' | 'hangs' | undefined;
    const endlessMs = 3_600_000;
    const farms = upFarms(size.farms);
    const names = polled.map(({ name }) => name);
    const { poller, page } = givenPoller({
      names,
      maxBusyRatio: 0.25,
      callMs(key) {
        if (outage === 'hangs') return endlessMs;
        return key === 'listFarms' ? size.listMs : size.callMs;
      },
      answer(key) {
        if (outage) return { fails: 'connect' };
        return key === 'listFarms' ? { body: { params: farms } } : answering()(key);
      },
    });
    const random = createRandom(20_261_125);
    const lags = { away: 0, back: 0 };
    poller.start();
    await vi.advanceTimersByTimeAsync(300_000);

    /** Returns the seconds until `zlb_up` is as expected, at most those given. */
    const secondsUntil = async (up: number, seconds: number): Promise<number> => {
      for (let second = 0; second < seconds; second += 1) {
        if (valueOf(await page(), 'zlb_up') === up) return second;
        await vi.advanceTimersByTimeAsync(1_000);
      }
      return seconds;
    };

    for (let round = 0; round < 10; round += 1) {
      outage = round % 2 === 0 ? 'refuses' : 'hangs';
      const seconds = Math.round(20 + random() * 580);
      const away = await secondsUntil(0, seconds);
      lags.away = Math.max(lags.away, away);
      await vi.advanceTimersByTimeAsync((seconds - away) * 1_000);
      outage = undefined;
      lags.back = Math.max(lags.back, await secondsUntil(1, 300));
      await vi.advanceTimersByTimeAsync(Math.round(120 + random() * 60) * 1_000);
    }

    expect(lags.away).toBeLessThanOrEqual(30);
    expect(lags.back).toBeLessThanOrEqual(20);
  },
);

it.each([5_000, 12_000])(
  'zlb_up becomes 1 again after an outage of an appliance whose calls take %i ms',
  async (slowMs) => {
    let isAway = false;
    const { poller, page } = givenPoller({
      names: ['farms', 'summary', 'activation'],
      maxBusyRatio: 0.25,
      callMs: () => (isAway ? 10 : slowMs),
      answer: (key) => (isAway ? { fails: 'connect' } : answering()(key)),
    });
    poller.start();
    await vi.advanceTimersByTimeAsync(300_000);

    isAway = true;
    await vi.advanceTimersByTimeAsync(60_000);
    const away = valueOf(await page(), 'zlb_up');
    isAway = false;
    await vi.advanceTimersByTimeAsync(60_000);

    expect([away, valueOf(await page(), 'zlb_up')]).toEqual([0, 1]);
  },
);
