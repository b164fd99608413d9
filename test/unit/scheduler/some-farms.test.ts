import { onTestFinished, expect, it, vi } from 'vitest';
import type { ApplianceWideCollector } from '../../../src/collectors/collector.ts';
import { farmsCollector } from '../../../src/collectors/farms.ts';
import { sleep } from '../../../src/lib/time.ts';
import { createPoller, scheduled } from '../../support/poller.ts';
import { wellAnswers } from './given-poller.ts';

const secondMs = 1_000;
const minuteMs = 60_000;

/** A poller whose probes take a second each, with the times at which all farms were probed. */
function givenProbes() {
  vi.useFakeTimers({ now: new Date('2026-11-20T21:00:00.500Z') });
  const ofAll: number[] = [];
  const probes: ApplianceWideCollector<readonly string[]> = {
    name: 'probes',
    schedule: '0 * * * * *',
    maxStaleMs: 5 * minuteMs,
    enabled: true,
    makesNoCalls: true,
    refreshedBy: [],
    families: [],
    async collect({ probing: { onlyFarms }, signal }) {
      if (!onlyFarms) ofAll.push(performance.now());
      await sleep(secondMs, signal);
      return [];
    },
  };
  const poller = createPoller({
    collectors: scheduled([farmsCollector, probes]),
    connect: () => ({
      read: (key) => Promise.resolve(structuredClone(wellAnswers[key]) as never),
      retire: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }),
  });
  onTestFinished(async () => {
    const closed = poller.close();
    await vi.runOnlyPendingTimersAsync();
    await closed;
    vi.useRealTimers();
  });
  const { state } = poller.handover;
  return { poller, ofAll, ageMs: () => state.elapsedNow() - (state.reading(probes)?.askedAtElapsedMs ?? 0) };
}

it.each([5, 15, 25, 35, 45, 55])(
  'a farm that is probed out of schedule, each minute %i s after all, holds up no probe of the others',
  async (afterSeconds) => {
    const { poller, ofAll, ageMs } = givenProbes();
    poller.start();
    await vi.advanceTimersByTimeAsync(5 * minuteMs);
    const before = ofAll.length;
    await vi.advanceTimersByTimeAsync((ofAll.at(-1) ?? 0) + minuteMs - performance.now() + afterSeconds * secondMs);

    for (let minute = 0; minute < 10; minute += 1) {
      void poller.run('probes', new Set(['shop']));
      await vi.advanceTimersByTimeAsync(minuteMs);
    }

    expect(ofAll.length - before).toBeGreaterThanOrEqual(10);
    expect(ageMs()).toBeLessThanOrEqual(minuteMs + 10 * secondMs);
  },
);

it('a reading with some farms probed again is as old as the probes of the others', async () => {
  const { poller, ofAll, ageMs } = givenProbes();
  poller.start();
  await vi.advanceTimersByTimeAsync(5 * minuteMs);
  await vi.advanceTimersByTimeAsync((ofAll.at(-1) ?? 0) + minuteMs - performance.now() + 30 * secondMs);

  const again = poller.run('probes', new Set(['shop']));
  await vi.advanceTimersByTimeAsync(2 * secondMs);
  await again;

  expect(ageMs()).toBeGreaterThanOrEqual(25 * secondMs);
});
