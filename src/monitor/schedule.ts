import type { Cron } from './cron.ts';
import type { Pace } from './runner.ts';
import type { IntervalBudget } from './interval-budget.ts';
import type { Job } from './job.ts';

/** Turns ticks into runs: each job at its own offset in the interval, once in n intervals where the interval budget says so. */
export interface Schedule {
  start(jobs: Iterable<Job>): void;
  close(): void;
}

export interface ScheduleParts {
  readonly cron: Cron;
  readonly budget: Pick<IntervalBudget, 'multiplier'>;
  readonly jitterRatio: number;
  readonly random: () => number;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
  readonly onStretched: (job: Job) => void;
  readonly run: (collector: string, pace: Pace) => void;
}

/** Runs come early and late by their jitter and by the calls before them. */
const tolerance = 0.5;

export function createSchedule({ cron, budget, jitterRatio, random, age, onStretched, run }: ScheduleParts): Schedule {
  const timers = new Set<NodeJS.Timeout>();
  const subscriptions: (() => void)[] = [];

  function onTick(job: Job): void {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        onDue(job);
      },
      job.offsetMs + random() * jitterRatio * job.intervalMs,
    );
    timers.add(timer);
  }

  /** Counts from the last run and not in ticks: when the multiplier changes, the next run comes neither at once nor too late. */
  function onDue(job: Job): void {
    const intervals = (age() - job.startedAtMs) / job.intervalMs;
    // A run that was just made out of schedule serves this tick as well.
    if (intervals < tolerance) return;
    if (intervals < budget.multiplier(job.collector.name) - tolerance) return onStretched(job);
    run(job.collector.name, 'spread');
  }

  return {
    start(jobs) {
      for (const job of jobs) subscriptions.push(cron.subscribe(job.schedule, () => onTick(job)));
    },
    close() {
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
