import { expect, it, onTestFinished, vi } from 'vitest';
import { backends } from '../../../src/collectors/backends.ts';
import { type Cron, Schedule } from '../../../src/poller/schedule.ts';
import { createJob } from '../../../src/poller/job.ts';

const minuteMs = 60_000;

/** A job each minute; `state.multiplier` is what the budget says, and a run takes no time. */
function given() {
  vi.useFakeTimers({ now: new Date('2026-11-20T21:00:00.500Z') });
  const ticks = new Set<() => void>();
  const cron: Cron = {
    subscribe(_expression, tick) {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
    intervalMs: () => minuteMs,
    gapMs: () => minuteMs,
    close: () => undefined,
  };
  const job = createJob(
    { collector: backends, schedule: '0 * * * * *', maxStaleMs: 300_000 },
    { appliance: 'lb', priority: 5, intervalMs: minuteMs, jitterRatio: 0.1 },
  );
  const state = { multiplier: 1, stretched: 0 };
  const runs: number[] = [];
  const run = (): void => {
    job.startedAtMs = Date.now();
    runs.push(Date.now());
  };
  const schedule = new Schedule({
    cron,
    budget: { multiplier: () => state.multiplier },
    jitterRatio: 0.1,
    random: () => 0.5,
    age: Date.now,
    onStretched: () => {
      state.stretched += 1;
    },
    run,
  });
  onTestFinished(() => {
    schedule.close();
    vi.useRealTimers();
  });
  schedule.start([job]);
  return {
    state,
    run,
    async passMinutes(minutes: number) {
      const before = runs.length;
      for (let minute = 0; minute < minutes; minute += 1) {
        for (const tick of ticks) tick();
        await vi.advanceTimersByTimeAsync(minuteMs);
      }
      return runs.slice(Math.max(0, before - 1));
    },
  };
}

const gapsOf = (times: readonly number[]) =>
  times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / minuteMs));

it('runs after as many intervals as the budget requires', async () => {
  const { state, passMinutes } = given();
  await passMinutes(3);

  state.multiplier = 7;
  const stretched = await passMinutes(21);
  state.multiplier = 5;
  const shorter = await passMinutes(20);

  expect(gapsOf(stretched)).toEqual([7, 7, 7]);
  expect(gapsOf(shorter)).toEqual([5, 5, 5, 5]);
});

it('runs at the next tick if the multiplier shrinks below the time since the last run', async () => {
  const { state, passMinutes } = given();
  await passMinutes(1);
  state.multiplier = 30;
  await passMinutes(10);

  state.multiplier = 2;

  expect(gapsOf(await passMinutes(5))).toEqual([11, 2, 2]);
});

it('counts from an extra run too, and counts the skipped ticks', async () => {
  const { state, run, passMinutes } = given();
  state.multiplier = 4;
  await passMinutes(3);

  run();
  const times = await passMinutes(8);

  expect(gapsOf(times)).toEqual([4, 4]);
  expect(state.stretched).toBe(2 + 6);
});
