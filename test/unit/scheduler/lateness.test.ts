import { expect, it, onTestFinished, vi } from 'vitest';
import type { Job } from '../../../src/scheduler/job.ts';
import { Lateness } from '../../../src/scheduler/lateness.ts';

it.each([
  ['in time', 0, 90_000],
  ['late, within max_stale', 5_000, 90_000],
  ['so late that two intervals outlast max_stale', 60_000, 180_000],
])('a reading whose run begins %s is kept for max_stale, or for two possible intervals', (_, ms, life) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lateness = new Lateness();
  lateness.recordResponse();
  const job = {
    intervalMs: 30_000,
    maxStaleMs: 90_000,
    late: { ms, lostMs: 0 },
    nextRunSteadyMs: Infinity,
    lostBeforeMs: 0,
  };

  expect(lateness.lifeMs(job as Job)).toBe(life);
});

it.each([
  ['max_stale, where nothing is late', { hasAnswered: true, ms: 0, lifeMs: 90_000 }, 90_000],
  ['as long as its run allowed when it came', { hasAnswered: true, ms: 0, lifeMs: 200_000 }, 200_000],
  ['as long as its runs allow now', { hasAnswered: true, ms: 60_000, lifeMs: 90_000 }, 180_000],
  ['max_stale, while the appliance does not answer', { hasAnswered: false, ms: 60_000, lifeMs: 200_000 }, 90_000],
])('a reading is shown for %s', (_, { hasAnswered, ms, lifeMs }, maxAgeMs) => {
  const maxStaleMs = 90_000;
  const late = { ms, lostMs: 0 };
  const readFarms = new Map();
  const job = {
    intervalMs: 30_000,
    maxStaleMs,
    late,
    nextRunSteadyMs: Infinity,
    lostBeforeMs: 0,
    readFarms,
  } as unknown as Job;

  expect(new Lateness().maxAgeMs({ maxStaleMs, lifeMs }, job, { hasAnswered, areStatesKnown: () => true })).toBe(
    maxAgeMs,
  );
});
