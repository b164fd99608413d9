import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { collectors } from '../../../src/collectors/registry.ts';
import { DueList } from '../../../src/scheduler/due-list.ts';
import { createJob, type Job, makeUrgent, waitUntil } from '../../../src/scheduler/job.ts';
import { createCron, nextDue } from '../../../src/scheduler/schedule.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

interface Given {
  readonly schedule: string;
  /** How long each of its steps takes. */
  readonly stepMs?: number;
  readonly collector?: 'farms' | 'vip';
}

/** Jobs by name, each of which is due again as its schedule says. */
function givenJobs(jobs: Readonly<Record<string, Given>>, now = '2026-11-20T21:00:00.500Z') {
  vi.useFakeTimers({ now: new Date(now) });
  const cron = createCron();
  const steps: { readonly name: string; readonly atMs: number }[] = [];
  const under: { now: number; most: number } = { now: 0, most: 0 };
  const startedMs = performance.now();
  const named = new Map<Job, { readonly name: string; readonly stepMs: number }>();
  for (const [name, { schedule, stepMs = 0, collector: wanted = 'system' }] of Object.entries(jobs)) {
    const collector = collectors.find((each) => each.name === wanted)!;
    const intervalMs = cron.intervalMs(schedule);
    const job = createJob(
      { collector, schedule, maxStaleMs: hourMs },
      { appliance: 'lb', rank: named.size, intervalMs, jitterRatio: 0.1 },
    );
    const waitMs = cron.matches(schedule)[0]! - Date.now();
    waitUntil(job, { steadyMs: performance.now() + waitMs, unixMs: Date.now() + waitMs });
    named.set(job, { name, stepMs });
  }
  const list = new DueList({
    jobs: [...named.keys()],
    maxSteps: 1,
    notBeforeSteadyMs: () => 0,
    mayStart: () => true,
    async step(job) {
      const { name, stepMs } = named.get(job)!;
      steps.push({ name, atMs: performance.now() - startedMs });
      under.most = Math.max(under.most, (under.now += 1));
      waitUntil(job, nextDue({ ...job, offsetMs: 0 }, cron, { jitterRatio: 0, random: () => 0 }));
      await new Promise((resolve) => setTimeout(resolve, stepMs));
      under.now -= 1;
    },
  });
  onTestFinished(async () => {
    const closed = list.close();
    await vi.runOnlyPendingTimersAsync();
    await closed;
    vi.useRealTimers();
  });
  list.wake();
  return {
    list,
    steps,
    under,
    /** Resteps how many steps come in a time. */
    async during(ms: number): Promise<number> {
      const before = steps.length;
      await vi.advanceTimersByTimeAsync(ms);
      return steps.length - before;
    },
  };
}

const nightly = { nightly: { schedule: '0 0 3 * * *' } };

describe('a scheduled job', () => {
  it('runs once and late after a sleep of the machine, and on time afterwards', async () => {
    const { during } = givenJobs(nightly, '2026-11-20T02:30:00Z');

    // While it sleeps, the monotonic clock and the timers stand still.
    vi.setSystemTime(new Date('2026-11-20T05:00:00Z'));

    expect(await during(2 * minuteMs)).toBe(1);
    expect(await during(23 * hourMs)).toBe(1);
  });

  it('runs late when the event loop was busy at its time', async () => {
    const { during } = givenJobs(nightly, '2026-11-20T02:59:59Z');
    vi.setSystemTime(new Date('2026-11-20T03:00:02Z'));

    expect(await during(minuteMs)).toBe(1);
  });

  it('ends with the list, which leaves no timer', async () => {
    const { list, during } = givenJobs({ often: { schedule: '* * * * * *' } });
    expect(await during(10_000)).toBe(10);

    await list.close();

    expect(await during(10_000)).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('overloaded jobs run one step at a time, the first job on time, and no other job starves', async () => {
  const { steps, under, during } = givenJobs({
    first: { schedule: '*/30 * * * * *', stepMs: 10 * secondMs, collector: 'farms' },
    long: { schedule: '*/20 * * * * *', stepMs: 15 * secondMs },
    longer: { schedule: '*/20 * * * * *', stepMs: 25 * secondMs },
    rare: { schedule: '0 */10 * * * *', stepMs: secondMs },
  });

  await during(2 * hourMs);

  const timesOf = (wanted: string) => steps.filter(({ name }) => name === wanted).map(({ atMs }) => atMs);
  const gapsOf = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));
  const mostOf = (wanted: string) => Math.max(...gapsOf(timesOf(wanted)));
  expect(under.most).toBe(1);
  expect(mostOf('first')).toBeLessThanOrEqual(60 * secondMs);
  expect(mostOf('long')).toBeLessThan(2 * minuteMs);
  expect(mostOf('longer')).toBeLessThan(2 * minuteMs);
  expect(mostOf('rare')).toBeLessThan(11 * minuteMs);
});

it('urgent farms take each second turn while routine is due', async () => {
  vi.useFakeTimers();
  const before = { last: {}, retryAtElapsedMs: undefined, hadFirstRun: true, readFarms: new Map() };
  const [backends, ...routine] = ['backends', 'interfaces', 'system', 'vpn'].map((name) => {
    const collector = collectors.find((each) => each.name === name)!;
    const scheduled = { collector, schedule: collector.schedule, maxStaleMs: hourMs };
    return createJob(scheduled, { appliance: 'lb', rank: 0, intervalMs: minuteMs, jitterRatio: 0, before });
  });
  const steps: string[] = [];
  const list = new DueList({
    jobs: [...routine, backends!],
    maxSteps: 1,
    notBeforeSteadyMs: () => 0,
    mayStart: () => true,
    async step(job) {
      steps.push(job.collector.name);
      if (job !== backends) waitUntil(job, { steadyMs: performance.now() });
      await new Promise((resolve) => setTimeout(resolve, secondMs));
    },
  });
  onTestFinished(async () => {
    const closed = list.close();
    await vi.runOnlyPendingTimersAsync();
    await closed;
    vi.useRealTimers();
  });

  makeUrgent(backends!);
  for (const [index, job] of routine.entries()) waitUntil(job, { steadyMs: performance.now() - 10 + index });
  list.wake();
  await vi.advanceTimersByTimeAsync(7 * secondMs);

  const turns = ['backends', 'interfaces', 'backends', 'system', 'backends', 'vpn', 'backends', 'interfaces'];
  expect(steps).toEqual(turns);
});

it('a job that makes no calls does not wait for a hung one', async () => {
  const { steps, during } = givenJobs({
    hangs: { schedule: '0 * * * * *', stepMs: 10 * minuteMs },
    vip: { schedule: '0 * * * * *', collector: 'vip' },
  });

  await during(5 * minuteMs);

  expect(steps.map(({ name }) => name)).toEqual(['hangs', 'vip', 'vip', 'vip', 'vip', 'vip']);
});

it('the gap between two matches is correct, many hours after the last one of a working day', async () => {
  vi.useFakeTimers({ now: new Date('2026-11-20T18:35:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const cron = createCron();
  const gapMs = () => cron.currentGapMs('0 */10 8-18 * * *');
  gapMs();

  await vi.advanceTimersByTimeAsync(6 * minuteMs);
  expect(gapMs()).toBe(10 * minuteMs);
  await vi.advanceTimersByTimeAsync(10 * minuteMs);
  expect(gapMs()).toBe(13 * hourMs + 10 * minuteMs);
});
