import { describe, expect, it } from 'vitest';
import { backends } from '../../../src/collectors/backends.ts';
import { createJob, type Job } from '../../../src/poller/job.ts';
import { Timing } from '../../../src/poller/schedule.ts';

const polling = { jitterRatio: 0.1 };

/**
 * A job each minute whose reading may be five minutes old; `multiplier` is what the budget says at
 * the moment.
 */
function given(): {
  job: Job;
  timing: Timing;
  budget: { multiplier: number };
  clock: { nowMs: number; answeredAtMs: number };
} {
  const budget = { multiplier: 1 };
  const clock = { nowMs: 0, answeredAtMs: 0 };
  const job = createJob(
    { collector: backends, schedule: '0 * * * * *', maxStaleMs: 300_000 },
    { appliance: 'lb', priority: 5, intervalMs: 60_000, jitterRatio: polling.jitterRatio },
  );
  const timing = new Timing({
    budget: { multiplier: () => budget.multiplier },
    ...polling,
    steadyNow: () => clock.nowMs,
    answeredAtMs: () => clock.answeredAtMs,
  });
  return { job, timing, budget, clock };
}

describe('the timing of a job', () => {
  it('follows its schedule as long as nothing is stretched', () => {
    const { job, timing } = given();

    expect(timing.effectiveIntervalMs(job)).toBe(60_000);
    expect(timing.roundMs(job)).toBeCloseTo(48_000);
    expect(timing.freshForMs(job)).toBe(300_000);
  });

  it('grows with the multiplier, and a reading then lives for two possible intervals', () => {
    const { job, timing, budget } = given();

    budget.multiplier = 10;

    expect(timing.effectiveIntervalMs(job)).toBe(600_000);
    expect(timing.roundMs(job)).toBeCloseTo(480_000);
    expect(timing.freshForMs(job)).toBe(1_200_000);
  });

  it('grows with a round that outlasts its interval', () => {
    const { job, timing } = given();

    job.lastRun = { tookMs: 150_000, lostMs: 0 };

    expect(timing.effectiveIntervalMs(job)).toBe(180_000);
    expect(timing.freshForMs(job)).toBe(360_000);
  });

  it('returns to the schedule after stretching: a round is spread over the requested interval, not its duration', () => {
    const { job, timing, budget } = given();
    budget.multiplier = 10;
    job.lastRun = { tookMs: timing.roundMs(job), lostMs: 0 };

    budget.multiplier = 1;
    for (let round = 0; round < 3; round += 1) job.lastRun = { tookMs: timing.roundMs(job), lostMs: 0 };

    expect(timing.effectiveIntervalMs(job)).toBe(60_000);
  });

  it('grows with a long current run, not with the time since the last one', () => {
    const { job, timing, clock } = given();
    clock.nowMs = 400_000;

    expect(timing.freshForMs(job), 'over').toBe(300_000);
    job.current = { sinceMs: 0, lostMs: 0 };
    expect(timing.effectiveIntervalMs(job), 'under way').toBe(420_000);
    expect(timing.freshForMs(job), 'without an answer').toBe(300_000);
    clock.answeredAtMs = 400_000;
    expect(timing.freshForMs(job), 'answered').toBe(840_000);
  });

  it('announces the duration of a failed run, and extends no reading for it', () => {
    const { job, timing, clock } = given();
    Object.assign(clock, { nowMs: 1_000_000, answeredAtMs: 1_000_000 });

    job.current = { sinceMs: 0, lostMs: 990_000 };
    expect(timing.effectiveIntervalMs(job)).toBe(1_020_000);
    expect(timing.freshForMs(job)).toBe(300_000);
    job.current = undefined;
    job.lastRun = { tookMs: 1_000_000, lostMs: 990_000 };
    expect(timing.effectiveIntervalMs(job)).toBe(1_020_000);
    expect(timing.freshForMs(job)).toBe(300_000);
  });
});
