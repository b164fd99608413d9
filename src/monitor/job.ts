import type { Collector } from '../collectors/collector.ts';
import type { SkipReason } from './counters.ts';
import { createFarmOrder, type FarmOrder } from './farm-order.ts';

/** A collector with what the configuration says about it. */
export interface ScheduledCollector {
  readonly collector: Collector;
  readonly schedule: string;
  readonly maxStaleMs: number;
}

/** In steady milliseconds: a machine that was suspended has not run for so long. */
export interface RunLength {
  /** From the start to the end, waits in the call queue included. */
  readonly tookMs: number;
  /** The part of it that was spent on calls that failed. */
  readonly lostMs: number;
}

/** A collector at work for one appliance. */
export interface Job extends ScheduledCollector {
  /** Position in the list of collectors: the order of runs that are made at once. */
  readonly priority: number;
  /** Of the schedule as written. */
  readonly intervalMs: number;
  /** Offset of the run in its interval, so that many appliances do not start at once. */
  readonly offsetMs: number;
  /** When the last run started, see lib/age-clock.ts. */
  startedAtMs: number;
  /** What the current or last run cost the appliance. */
  spentSeconds: number;
  /** The run under way, from its start to its end, whatever comes of it. */
  current: { readonly sinceMs: number; lostMs: number } | undefined;
  lastRun: RunLength;
  /** True while the breaker or a failure cost it its last run, or a reading of it was evicted. */
  missed: boolean;
  /** Why it does not run at present, and since when in Unix milliseconds; ticks that come too early or too late do not count. */
  blocked: { readonly reason: SkipReason; readonly sinceMs: number } | undefined;
  /** True once it ran or was skipped for a reason. */
  hadFirstRun: boolean;
  /** Of a collector that asks farm by farm. */
  readonly farmOrder: FarmOrder;
}

/** The part of an interval that a round of calls may fill, so that it ends before the next one starts. */
export const ratioOfInterval = 0.9;

/** Nobody wants a weekly job spread over the week. */
const maxOffsetMs = 600_000;

export function createJob(
  scheduled: ScheduledCollector,
  parts: { appliance: string; priority: number; intervalMs: number; jitterRatio: number },
): Job {
  const { intervalMs } = parts;
  const share = hashShare(`${parts.appliance}/${scheduled.collector.name}`) * (ratioOfInterval - parts.jitterRatio);
  return {
    ...scheduled,
    priority: parts.priority,
    intervalMs,
    offsetMs: share * Math.min(intervalMs, maxOffsetMs),
    startedAtMs: Number.NEGATIVE_INFINITY,
    spentSeconds: 0,
    current: undefined,
    lastRun: { tookMs: 0, lostMs: 0 },
    missed: false,
    blocked: undefined,
    hadFirstRun: false,
    farmOrder: createFarmOrder(),
  };
}

/** A stable number from 0 to 1 for a text (FNV-1a). */
function hashShare(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
