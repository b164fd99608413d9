import type { Clockwork } from './clockwork.ts';
import type { Pace } from './collecting.ts';
import type { Governor } from './governor.ts';
import type { Job } from './job.ts';

/** Turns ticks into runs: each job at its place in the interval, every n-th tick where the governor says so. */
export interface Schedule {
  start(jobs: Iterable<Job>): void;
  close(): void;
}

export interface ScheduleParts {
  readonly clockwork: Clockwork;
  readonly governor: Governor;
  readonly jitterRatio: number;
  readonly random: () => number;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
  readonly onStretched: (job: Job) => void;
  readonly run: (collector: string, pace: Pace) => void;
}

export function createSchedule({
  clockwork,
  governor,
  jitterRatio,
  random,
  age,
  onStretched,
  run,
}: ScheduleParts): Schedule {
  const timers = new Set<NodeJS.Timeout>();
  const subscriptions: (() => void)[] = [];

  function onTick(job: Job): void {
    job.ticks += 1;
    if (job.ticks % governor.everyNthTick(job.collector.name) !== 0) return onStretched(job);
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        // A run that was just made out of turn serves this tick as well.
        if (age() - job.startedAtMs >= job.intervalMs / 2) run(job.collector.name, 'spread');
      },
      job.offsetMs + random() * jitterRatio * job.intervalMs,
    );
    timers.add(timer);
  }

  return {
    start(jobs) {
      for (const job of jobs) subscriptions.push(clockwork.subscribe(job.schedule, () => onTick(job)));
    },
    close() {
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
