import type { Collector } from '../collectors/collector.ts';

/** A collector with what the configuration says about it. */
export interface ScheduledCollector {
  readonly collector: Collector;
  readonly schedule: string;
  readonly maxStaleMs: number;
}

/** A collector at work for one appliance. */
export interface Job extends ScheduledCollector {
  /** Place in the list of collectors: the order of runs that are made at once. */
  readonly precedence: number;
  /** Of the schedule as written. */
  readonly intervalMs: number;
  /** Where in its interval the job has its turn, so that many appliances do not start at once. */
  readonly offsetMs: number;
  ticks: number;
  startedAtMs: number;
  /** What the current or last run cost the appliance. */
  spentSeconds: number;
  /** Length of the last run, waiting for turns included. */
  lastRunMs: number;
  /** True while the breaker or a failure cost it its last run. */
  missed: boolean;
  /** True once it ran or was skipped for a reason. */
  hadTurn: boolean;
}

/** The part of an interval that a round of calls may fill, so that it ends before the next one starts. */
export const shareOfInterval = 0.9;

/** Nobody wants a weekly job spread over the week. */
const longestOffsetMs = 600_000;

export function createJob(
  scheduled: ScheduledCollector,
  parts: {
    readonly appliance: string;
    readonly precedence: number;
    readonly jitterRatio: number;
    /** See {@link Clockwork.intervalOf}. */
    readonly intervalOf: (expression: string) => number;
  },
): Job {
  const intervalMs = parts.intervalOf(scheduled.schedule);
  const share = hashShare(`${parts.appliance}/${scheduled.collector.name}`) * (shareOfInterval - parts.jitterRatio);
  return {
    ...scheduled,
    precedence: parts.precedence,
    intervalMs,
    offsetMs: share * Math.min(intervalMs, longestOffsetMs),
    ticks: 0,
    startedAtMs: Number.NEGATIVE_INFINITY,
    spentSeconds: 0,
    lastRunMs: 0,
    missed: false,
    hadTurn: false,
  };
}

/** A stable number from 0 to 1 for a text (FNV-1a). */
function hashShare(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
