import type { BreakerState } from '../appliance/breaker.ts';
import type { Collector } from '../collectors/collector.ts';
import type { CollectorStatistics } from './collector-statistics.ts';
import type { Exposition } from './exposition.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import { keyOf, originOf, type Reading } from './reading.ts';
import type { ReadingStore } from './reading-store.ts';
import type { CollectorStatus } from './status.ts';

/** One appliance at one moment: all that the views of it are made from. Immutable. */
export interface Snapshot {
  readonly name: string;
  /** The origin of its address. */
  readonly url: string;
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
  // The poller stores nothing else under this key than what this collector returned.
  return readings.get(keyOf(originOf(collector, farm))) as Reading<Data> | undefined;
}

export interface SnapshotSources {
  readonly readings: ReadingStore;
  readonly exposition: Exposition;
  readonly statistics: CollectorStatistics;
  readonly failures: FailureLog;
  readonly isLicensed: () => boolean | undefined;
}

/** Creates snapshots of one appliance without changing anything. */
export class Snapshots {
  readonly #parts: SharedParts;
  readonly #sources: SnapshotSources;
  #newest: { readonly snapshot: Snapshot; readonly version: number; readonly untilMs: number } | undefined;

  constructor(parts: SharedParts, sources: SnapshotSources) {
    this.#parts = parts;
    this.#sources = sources;
  }

  /** Returns the appliance as it is now; the same object until something of it changes. */
  current(): Snapshot {
    const { readings, statistics } = this.#sources;
    const { state, breaker } = this.#parts;
    const ageMs = state.age();
    const newest = this.#newest;
    const isCurrent =
      newest !== undefined &&
      newest.version === readings.version &&
      ageMs < newest.untilMs &&
      newest.snapshot.up === statistics.isUp(ageMs) &&
      newest.snapshot.breaker === breaker.state;
    if (isCurrent) return newest.snapshot;
    const { snapshot, untilMs } = this.#take(ageMs);
    this.#newest = { snapshot, version: readings.version, untilMs };
    return snapshot;
  }

  /** Marks something as changed that is not a reading. */
  invalidate(): void {
    this.#newest = undefined;
  }

  #take(ageMs: number): { readonly snapshot: Snapshot; readonly untilMs: number } {
    const { name, url, labels, jobs, breaker } = this.#parts;
    const { isLicensed, exposition, statistics } = this.#sources;
    const { readings, stale, leftOut, untilMs } = this.#sources.readings.at(ageMs);
    const snapshot = {
      name,
      url,
      labels,
      up: statistics.isUp(ageMs),
      deactivated: isLicensed() === false,
      breaker: breaker.state,
      readings,
      series: exposition.series,
      seriesLeftOut: leftOut,
      collectors: [...jobs.values()].map((job) => this.#describe(job, stale)),
    };
    return { snapshot, untilMs };
  }

  #describe(job: Job, stale: ReadonlySet<string>): CollectorStatus {
    const { statistics, failures } = this.#sources;
    const { name } = job.collector;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = statistics.state.entries.get(name) ?? {};
    const isSupported = job.retryAtMs === undefined;
    return {
      name,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs,
      isStale: stale.has(name),
      isSupported,
      failure: isSupported ? (failures.trouble(name) ?? job.blocked) : undefined,
    };
  }
}
