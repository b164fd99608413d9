import type { Collector, FarmFact } from '../collectors/collector.ts';
import type { UnreadableField } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { SkipReason } from './counters.ts';
import type { Origin } from './reading.ts';

/** A collector with what the configuration says about it. */
export interface ScheduledCollector {
  readonly collector: Collector;
  readonly schedule: string;
  readonly maxStaleMs: number;
}

/** The pace of a run: its calls as fast as the budget allows, or spread over its interval. */
export type Pace = 'at_once' | 'spread';

/** Lengths in steady milliseconds, which a suspended machine does not count. */
export interface RunLength {
  /** The time from start to end, waits in the call queue included. */
  readonly tookMs: number;
  /** The part of it that was spent on calls that failed. */
  readonly lostMs: number;
}

/** A collector at work for one appliance. */
export interface Job extends ScheduledCollector {
  /** Position in the list of collectors: the order of runs that are made at once. */
  readonly priority: number;
  /** The interval of the schedule as written. */
  readonly intervalMs: number;
  /** Offset of the run in its interval, so that many appliances do not start at once. */
  readonly offsetMs: number;
  /** When the last run started, see lib/time.ts. */
  startedAtMs: number;
  /** The cost of the current or last run for the appliance. */
  spentSeconds: number;
  /** The run under way; resolves when it is over, whatever its outcome. */
  running: Promise<void> | undefined;
  /** The lengths of the run under way. */
  current: { readonly sinceMs: number; lostMs: number } | undefined;
  lastRun: RunLength;
  /** True while the breaker or a failure cost it its last run, or a reading of it was evicted. */
  missed: boolean;
  /**
   * Age at which an optional collector is tried again whose route is missing; undefined if it is
   * not missing.
   */
  retryAtMs: number | undefined;
  /**
   * The reason for which it does not run at present, and its beginning in Unix milliseconds; ticks
   * that come too early or too late do not count.
   */
  blocked: { readonly reason: SkipReason; readonly sinceMs: number } | undefined;
  /** True once it ran or was skipped for a reason. */
  hadFirstRun: boolean;
  /** Used if the collector asks farm by farm. */
  readonly farmOrder: FarmOrder;
}

/**
 * The result of a run. `closing`: the poller closes; `unsupported_route`: the appliance has no such
 * route; a skip reason: no calls were made.
 */
export type Outcome = 'ok' | 'failed' | 'unsupported_route' | 'closing' | SkipReason;

/** A run that ended. */
export interface RunFinished {
  readonly job: Job;
  readonly outcome: Exclude<Outcome, 'closing'>;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  readonly durationMs: number;
}

/**
 * The result of one step of a run: the whole run for most collectors, one farm for those that read
 * farm by farm.
 */
export type StepFinished = { readonly job: Job; readonly origin: Origin } & (
  | {
      readonly outcome: 'ok';
      readonly reading: FreshData | undefined;
      readonly unreadable: readonly UnreadableField[];
    }
  | { readonly outcome: 'failed'; readonly reason: FailureReason; readonly error: Error }
  | { readonly outcome: 'unsupported_route'; readonly error: Error }
);

export interface FreshData {
  readonly data: unknown;
  /** The age at which the first call was made; the data may be as old as that. */
  readonly askedAtMs: number;
}

/**
 * The part of an interval that a round of calls may fill, so that it ends before the next one
 * starts.
 */
export const ratioOfInterval = 0.9;

/** The maximum offset, and random delay: a weekly job is not spread over the week. */
export const maxOffsetMs = 600_000;

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
    running: undefined,
    current: undefined,
    lastRun: { tookMs: 0, lostMs: 0 },
    missed: false,
    retryAtMs: undefined,
    blocked: undefined,
    hadFirstRun: false,
    farmOrder: new FarmOrder(),
  };
}

/** Returns a stable number from 0 to 1 for a text (FNV-1a). */
function hashShare(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}

/**
 * The order of farms in the rounds of a collector that asks farm by farm, and what a round costs.
 */
export class FarmOrder {
  /** Seconds by farm, in the order in which they were read. */
  readonly #costs = new Map<string, number | undefined>();

  /**
   * Orders the farms for the next round: farms that were never read first, then those that have
   * waited longest, so that a round goes on where the one before was cut off. Forgets farms that
   * are not in the list.
   */
  next(farms: readonly FarmFact[]): readonly FarmFact[] {
    const present = new Map(farms.map((farm) => [farm.name, farm]));
    for (const name of this.#costs.keys()) if (!present.has(name)) this.#costs.delete(name);
    const waiting = [...this.#costs.keys()].flatMap((name) => present.get(name) ?? []);
    return [...farms.filter(({ name }) => !this.#costs.has(name)), ...waiting];
  }

  /**
   * Records that a farm was read; `busySeconds` is undefined without an answer, because a time-out
   * is no cost.
   */
  read(farm: string, busySeconds: number | undefined): void {
    this.#costs.delete(farm);
    this.#costs.set(farm, busySeconds);
  }

  /**
   * Returns the cost of a round in seconds: the last cost of each farm, and the mean for farms
   * whose cost is not known.
   */
  roundSeconds(farms: number): number {
    let sum = 0;
    let known = 0;
    for (const each of this.#costs.values()) {
      if (each === undefined) continue;
      sum += each;
      known += 1;
    }
    return known === 0 ? 0 : (sum / known) * farms;
  }
}
