import { describe, expect, it } from 'vitest';
import type { Collector } from '../../../src/collectors/collector.ts';
import { collectors } from '../../../src/collectors/registry.ts';
import { intervalOf } from '../../../src/scheduler/schedule.ts';
import { createJob, priorityOf } from '../../../src/scheduler/job.ts';

const intervals = new Map(collectors.map(({ schedule }) => [schedule, intervalOf(schedule)]));

const jobFor = (collector: Collector, appliance: string, rank: number) =>
  createJob(
    { collector, schedule: collector.schedule, maxStaleMs: collector.maxStaleMs },
    { appliance, rank, intervalMs: intervals.get(collector.schedule) ?? 0, jitterRatio: 0.1 },
  );
const jobOf = (appliance: string, index = 0) =>
  jobFor(collectors[index % collectors.length] ?? collectors[0]!, appliance, index);

describe('a job', () => {
  it('runs at an offset at which the run and its delay end before the next tick', () => {
    const late = Array.from({ length: 500 }, (_, index) => jobOf(`lb-${index}`, index)).filter(
      ({ offsetMs, intervalMs }) => offsetMs < 0 || offsetMs > intervalMs * 0.8,
    );

    expect(late).toEqual([]);
  });

  it('runs at a different offset than on other appliances, spread over the interval', () => {
    const shares = Array.from({ length: 1_000 }, (_, index) => jobOf(`lb-${index}`)).map(
      ({ offsetMs, intervalMs }) => offsetMs / intervalMs,
    );

    const eighths = Array.from(
      { length: 8 },
      (_, part) => shares.filter((share) => Math.floor(share * 10) === part).length,
    );

    expect(Math.min(...eighths)).toBeGreaterThan(75);
    expect(Math.max(...eighths)).toBeLessThan(175);
  });

  it('runs at a different offset than the other jobs of its appliance', () => {
    const shares = collectors
      .map((_, index) => jobOf('lb-paris', index))
      .map(({ offsetMs, intervalMs }) => offsetMs / intervalMs);

    expect(new Set(shares).size).toBe(collectors.length);
  });

  it('goes before all others for the list of farms alone, also while that is off', () => {
    const first = collectors.filter((collector) => priorityOf(jobFor(collector, 'lb', 0)) === 'first');

    expect(first.map(({ name }) => name)).toEqual(['farms']);
  });
});

it.each([
  ['* * * * * *', 1_000],
  ['*/30 * * * * *', 30_000],
  ['0 * * * * *', 60_000],
  ['0 */10 * * * *', 600_000],
  ['0 0 3 * * *', 86_400_000],
  ['0 0,5 * * * *', 300_000],
])('the interval of a schedule %s is %d ms', (schedule, ms) => {
  expect(intervalOf(schedule)).toBe(ms);
});
