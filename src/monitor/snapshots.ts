import type { BreakerState } from '../appliance/breaker.ts';
import type { Exposition } from './exposition.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { CollectorStatistics } from './collector-statistics.ts';
import type { ReadingStore } from './reading-store.ts';
import type { Snapshot } from './snapshot.ts';
import type { CollectorStatus } from './status.ts';

/** Takes the snapshots of one appliance. Taking one changes nothing. */
export interface Snapshots {
  /** The appliance as it is now; the same object until something of it changes. */
  current(): Snapshot;
  /** Something changed that is not a reading. */
  invalidate(): void;
}

export interface SnapshotsParts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly jobs: ReadonlyMap<string, Job>;
  readonly isLicensed: () => boolean | undefined;
  readonly readingStore: Pick<ReadingStore, 'at' | 'version'>;
  readonly exposition: Pick<Exposition, 'isUp' | 'series'>;
  readonly statistics: Pick<CollectorStatistics, 'state'>;
  readonly failures: Pick<FailureLog, 'trouble'>;
  readonly breakerState: () => BreakerState;
  readonly isSupported: (collector: string) => boolean;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

export function createSnapshots(parts: SnapshotsParts): Snapshots {
  const {
    name,
    labels,
    jobs,
    isLicensed,
    readingStore,
    exposition,
    statistics,
    failures,
    breakerState,
    isSupported,
    age,
  } = parts;
  let newest: { readonly snapshot: Snapshot; readonly version: number; readonly untilMs: number } | undefined;

  function describeCollector(job: Job, stale: ReadonlySet<string>): CollectorStatus {
    const collector = job.collector.name;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = statistics.state.entries.get(collector) ?? {};
    const isThere = isSupported(collector);
    return {
      name: collector,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs,
      isStale: stale.has(collector),
      isSupported: isThere,
      failure: isThere ? (failures.trouble(collector) ?? job.blocked) : undefined,
    };
  }

  return {
    current() {
      const ageMs = age();
      const up = exposition.isUp(ageMs);
      const breaker = breakerState();
      const isCurrent = newest && newest.version === readingStore.version && ageMs < newest.untilMs;
      if (newest && isCurrent && newest.snapshot.up === up && newest.snapshot.breaker === breaker)
        return newest.snapshot;
      const { readings, stale, leftOut, untilMs } = readingStore.at(ageMs);
      const snapshot = {
        name,
        labels,
        up,
        deactivated: isLicensed() === false,
        breaker,
        readings,
        series: exposition.series,
        seriesLeftOut: leftOut,
        collectors: [...jobs.values()].map((job) => describeCollector(job, stale)),
      };
      newest = { snapshot, version: readingStore.version, untilMs };
      return snapshot;
    },
    invalidate() {
      newest = undefined;
    },
  };
}
