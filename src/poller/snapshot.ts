import type { BreakerState } from '../appliance/breaker.ts';
import type { Collector, ObjectState } from '../collectors/collector.ts';
import type { CollectorStatistics } from './collector-statistics.ts';
import type { Job } from './job.ts';
import type { CollectorFailure, CollectorStatus } from './status.ts';

/** The origin of a reading: a collector, and the farm if it has a reading for each farm. */
export interface Origin {
  readonly collector: string;
  readonly farm?: string;
}

/** Returns one text for an origin; farm names have no newline. */
export function keyOf({ collector, farm }: Origin): string {
  return farm === undefined ? collector : `${collector}\n${farm}`;
}

/**
 * When an object was seen to change to its state, in Unix milliseconds; undefined if it never was.
 */
export type SinceMs = (object: Omit<ObjectState, 'state'>) => number | undefined;

/** The newest data of a collector, or of a collector and a farm. */
export interface Reading<Data = unknown> extends Origin {
  readonly data: Data;
  /** When the states in it began, as far as that was seen. */
  readonly sinceMs: SinceMs | undefined;
}

/** The readings that are not stale at one moment. */
export interface FreshReadings {
  readonly readings: ReadonlyMap<string, Reading>;
  /** Collectors with a stale reading. */
  readonly stale: ReadonlySet<string>;
  /** Series of the readings that the limit leaves out of `/metrics`. */
  readonly leftOut: number;
  /** The age at which the first of the readings may become stale. */
  readonly untilMs: number;
}

/** One appliance at one moment: all that the views of it are made from. Immutable. */
export interface Snapshot {
  readonly name: string;
  /** The labels of the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value of `zlb_up`; undefined before the first answer. */
  readonly up: boolean | undefined;
  /** True after a 402, until a call behind the activation check succeeds. */
  readonly deactivated: boolean;
  readonly breaker: BreakerState;
  /** Readings that are not stale, by their key. */
  readonly readings: ReadonlyMap<string, Reading>;
  readonly series: number;
  readonly seriesLeftOut: number;
  readonly collectors: readonly CollectorStatus[];
}

/**
 * Returns a collector's reading, of one farm where it is named; undefined where there is none, or a
 * stale one.
 */
export function readingOf<Data>(
  { readings }: Pick<Snapshot, 'readings'>,
  collector: Collector<Data>,
  farm?: string,
): Reading<Data> | undefined {
  const origin = farm === undefined ? { collector: collector.name } : { collector: collector.name, farm };
  // The poller stores nothing else under this key than what this collector returned.
  return readings.get(keyOf(origin)) as Reading<Data> | undefined;
}

export interface SnapshotsParts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly jobs: ReadonlyMap<string, Job>;
  readonly isLicensed: () => boolean | undefined;
  /** The reading store; its version changes with each change of the readings. */
  readonly readings: { at(ageMs: number): FreshReadings; readonly version: number };
  readonly exposition: { readonly series: number };
  readonly statistics: Pick<CollectorStatistics, 'isUp' | 'state'>;
  readonly failures: { trouble(collector: string): CollectorFailure | undefined };
  readonly breakerState: () => BreakerState;
  /** See lib/time.ts. */
  readonly age: () => number;
}

/** Creates snapshots of one appliance without changing anything. */
export class Snapshots {
  readonly #parts: SnapshotsParts;
  #newest: { readonly snapshot: Snapshot; readonly version: number; readonly untilMs: number } | undefined;

  constructor(parts: SnapshotsParts) {
    this.#parts = parts;
  }

  /** Returns the appliance as it is now; the same object until something of it changes. */
  current(): Snapshot {
    const { readings, statistics, breakerState, age } = this.#parts;
    const ageMs = age();
    const [up, breaker] = [statistics.isUp(ageMs), breakerState()];
    const newest = this.#newest;
    const isCurrent =
      newest !== undefined &&
      newest.version === readings.version &&
      ageMs < newest.untilMs &&
      newest.snapshot.up === up &&
      newest.snapshot.breaker === breaker;
    if (isCurrent) return newest.snapshot;
    const { snapshot, untilMs } = this.#take(ageMs, up, breaker);
    this.#newest = { snapshot, version: readings.version, untilMs };
    return snapshot;
  }

  /** Marks something as changed that is not a reading. */
  invalidate(): void {
    this.#newest = undefined;
  }

  #take(
    ageMs: number,
    up: boolean | undefined,
    breaker: BreakerState,
  ): { readonly snapshot: Snapshot; readonly untilMs: number } {
    const { name, labels, jobs, isLicensed, exposition } = this.#parts;
    const { readings, stale, leftOut, untilMs } = this.#parts.readings.at(ageMs);
    const snapshot = {
      name,
      labels,
      up,
      deactivated: isLicensed() === false,
      breaker,
      readings,
      series: exposition.series,
      seriesLeftOut: leftOut,
      collectors: [...jobs.values()].map((job) => this.#describe(job, stale)),
    };
    return { snapshot, untilMs };
  }

  #describe(job: Job, stale: ReadonlySet<string>): CollectorStatus {
    const { statistics, failures } = this.#parts;
    const collector = job.collector.name;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = statistics.state.entries.get(collector) ?? {};
    const isSupported = job.retryAtMs === undefined;
    return {
      name: collector,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs,
      isStale: stale.has(collector),
      isSupported,
      failure: isSupported ? (failures.trouble(collector) ?? job.blocked) : undefined,
    };
  }
}
