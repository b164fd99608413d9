import type { IntervalBudget } from './interval-budget.ts';
import { type Job, type RunLength, ratioOfInterval } from './job.ts';

/** The times that follow from a job's schedule, its costs and what the appliance can bear. All of them as things are now. */
export interface Timing {
  /** Milliseconds between runs as they really come. */
  effectiveIntervalMs(job: Job): number;
  /** Milliseconds over which the calls of a round are spread. */
  roundMs(job: Job): number;
  /**
   * How long a reading stays while the appliance answers. An interval stretched beyond `max_stale` must not make it blink:
   * then it stays for two of the intervals that are possible. What fails, however long it takes, stretches nothing here.
   */
  freshForMs(job: Job): number;
}

export interface TimingParts {
  readonly budget: Pick<IntervalBudget, 'multiplier'>;
  readonly jitterRatio: number;
  readonly steadyNow: () => number;
}

export function createTiming({ budget, jitterRatio, steadyNow }: TimingParts): Timing {
  const stretchedMs = (job: Job): number => job.intervalMs * budget.multiplier(job.collector.name);
  // A run that outlasts its interval makes the next tick an overlap.
  const intervalMs = (job: Job, lengthMs: (run: RunLength) => number): number => {
    const { current, lastRun } = job;
    const running = current && { tookMs: steadyNow() - current.sinceMs, lostMs: current.lostMs };
    const longestMs = Math.max(lengthMs(lastRun), running ? lengthMs(running) : 0);
    return Math.max(stretchedMs(job), Math.ceil(longestMs / job.intervalMs) * job.intervalMs);
  };
  return {
    effectiveIntervalMs: (job) => intervalMs(job, ({ tookMs }) => tookMs),
    // Not over the effective interval: a round that took long once would then be made to take long for ever.
    roundMs: (job) => stretchedMs(job) * (ratioOfInterval - jitterRatio),
    freshForMs(job) {
      const neededMs = intervalMs(job, ({ tookMs, lostMs }) => tookMs - lostMs);
      return neededMs > job.intervalMs ? Math.max(job.maxStaleMs, neededMs * 2) : job.maxStaleMs;
    },
  };
}
