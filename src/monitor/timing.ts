import type { Governor } from './governor.ts';
import { type Job, shareOfInterval } from './job.ts';

/** The times that follow from a job's schedule, its costs and what the appliance can bear. */
export interface Timing {
  /** Milliseconds between runs as they really come. */
  effectiveIntervalMs(job: Job): number;
  /** Milliseconds over which the calls of a round are spread. */
  roundMs(job: Job): number;
  /**
   * How long a reading stays. An interval stretched beyond `max_stale` must not make it blink: then it stays for two of the
   * intervals that are possible. `projectedRoundMs` is how long the round under way will take, 0 outside rounds.
   */
  freshForMs(job: Job, projectedRoundMs: number): number;
}

export function createTiming(governor: Governor, polling: { readonly jitterRatio: number }): Timing {
  const stretchedMs = (job: Job): number => job.intervalMs * governor.everyNthTick(job.collector.name);
  // A run that outlasts its interval makes the next tick an overlap.
  const effectiveIntervalMs = (job: Job): number =>
    Math.max(stretchedMs(job), Math.ceil(job.lastRunMs / job.intervalMs) * job.intervalMs);
  return {
    effectiveIntervalMs,
    // Not over the effective interval: a round that took long once would then be made to take long for ever.
    roundMs: (job) => stretchedMs(job) * (shareOfInterval - polling.jitterRatio),
    freshForMs(job, projectedRoundMs) {
      const expected = effectiveIntervalMs(job);
      // One slow call among the first few projects hours; an appliance that then fell silent would be shown for as long.
      const real = Math.max(expected, Math.min(projectedRoundMs, expected * 4));
      return real > job.intervalMs ? Math.max(job.maxStaleMs, real * 2) : job.maxStaleMs;
    },
  };
}
