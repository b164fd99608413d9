import type { Governor } from './governor.ts';
import { type Job, shareOfInterval } from './job.ts';

/** The times that follow from a job's schedule, its costs and what the appliance can bear. All of them as things are now. */
export interface Timing {
  /** Milliseconds between runs as they really come. */
  effectiveIntervalMs(job: Job): number;
  /** Milliseconds over which the calls of a round are spread. */
  roundMs(job: Job): number;
  /**
   * How long a reading stays while the appliance answers. An interval stretched beyond `max_stale` must not make it blink:
   * then it stays for two of the intervals that are possible.
   */
  freshForMs(job: Job): number;
}

export interface TimingParts {
  readonly governor: Pick<Governor, 'stride'>;
  readonly jitterRatio: number;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

export function createTiming({ governor, jitterRatio, age }: TimingParts): Timing {
  const stretchedMs = (job: Job): number => job.intervalMs * governor.stride(job.collector.name);
  // A run that outlasts its interval makes the next tick an overlap.
  const effectiveIntervalMs = (job: Job): number => {
    const tookMs = Math.max(job.lastRunMs, job.running ? age() - job.startedAtMs : 0);
    return Math.max(stretchedMs(job), Math.ceil(tookMs / job.intervalMs) * job.intervalMs);
  };
  return {
    effectiveIntervalMs,
    // Not over the effective interval: a round that took long once would then be made to take long for ever.
    roundMs: (job) => stretchedMs(job) * (shareOfInterval - jitterRatio),
    freshForMs(job) {
      const effectiveMs = effectiveIntervalMs(job);
      return effectiveMs > job.intervalMs ? Math.max(job.maxStaleMs, effectiveMs * 2) : job.maxStaleMs;
    },
  };
}
