import type { BreakerState } from '../appliance/breaker.ts';
import type { Display } from './display.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { Shelf } from './shelf.ts';
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
  readonly shelf: Pick<Shelf, 'at' | 'version'>;
  readonly display: Pick<Display, 'isUp' | 'series'>;
  readonly ledger: Pick<Ledger, 'state'>;
  readonly failures: Pick<FailureLog, 'trouble'>;
  readonly breakerState: () => BreakerState;
  readonly isSupported: (collector: string) => boolean;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

export function createSnapshots(parts: SnapshotsParts): Snapshots {
  const { name, labels, jobs, isLicensed, shelf, display, ledger, failures, breakerState, isSupported, age } = parts;
  let newest: { readonly snapshot: Snapshot; readonly version: number; readonly untilMs: number } | undefined;

  function describeCollector(job: Job, stale: ReadonlySet<string>): CollectorStatus {
    const collector = job.collector.name;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = ledger.state.entries.get(collector) ?? {};
    const isThere = isSupported(collector);
    return {
      name: collector,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs,
      isStale: stale.has(collector),
      isSupported: isThere,
      failure: isThere ? (failures.trouble(collector) ?? job.heldUp) : undefined,
    };
  }

  return {
    current() {
      const ageMs = age();
      const up = display.isUp(ageMs);
      const breaker = breakerState();
      const isCurrent = newest && newest.version === shelf.version && ageMs < newest.untilMs;
      if (newest && isCurrent && newest.snapshot.up === up && newest.snapshot.breaker === breaker)
        return newest.snapshot;
      const { readings, stale, leftOut, untilMs } = shelf.at(ageMs);
      const snapshot = {
        name,
        labels,
        up,
        deactivated: isLicensed() === false,
        breaker,
        readings,
        series: display.series,
        seriesLeftOut: leftOut,
        collectors: [...jobs.values()].map((job) => describeCollector(job, stale)),
      };
      newest = { snapshot, version: shelf.version, untilMs };
      return snapshot;
    },
    invalidate() {
      newest = undefined;
    },
  };
}
