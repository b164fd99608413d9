import type { CollectorStatistics } from './collector-statistics.ts';
import { describeAppliance } from '../status/describe.ts';
import type { Exposition } from './exposition.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { ReadingStore } from './reading-store.ts';
import type { ApplianceStatus, CollectorFailure, CollectorStatus } from '../status/status.ts';

export interface StatusSources {
  readonly readings: ReadingStore;
  readonly exposition: Exposition;
  readonly statistics: CollectorStatistics;
  readonly failures: FailureLog;
  readonly isLicensed: () => boolean | undefined;
}

/** Describes one appliance without changing anything. */
export class StatusCache {
  readonly #parts: SharedParts;
  readonly #sources: StatusSources;
  #newest: { readonly status: ApplianceStatus; readonly version: number; readonly untilMs: number } | undefined;

  constructor(parts: SharedParts, sources: StatusSources) {
    this.#parts = parts;
    this.#sources = sources;
  }

  /** Returns the appliance as it is now; the same object until something of it changes. */
  current(): ApplianceStatus {
    const { readings, statistics } = this.#sources;
    const { state, breaker } = this.#parts;
    const ageMs = state.age();
    const newest = this.#newest;
    const isCurrent =
      newest !== undefined &&
      newest.version === readings.version &&
      ageMs < newest.untilMs &&
      newest.status.up === statistics.isUp(ageMs) &&
      newest.status.breaker === breaker.state;
    if (isCurrent) return newest.status;
    this.#newest = { ...this.#describe(ageMs), version: readings.version };
    return this.#newest.status;
  }

  /** Marks something as changed that is not a reading. */
  invalidate(): void {
    this.#newest = undefined;
  }

  #describe(ageMs: number): { readonly status: ApplianceStatus; readonly untilMs: number } {
    const { name, url, labels, jobs, breaker } = this.#parts;
    const { isLicensed, exposition, statistics } = this.#sources;
    const { readings, stale, leftOut, untilMs } = this.#sources.readings.at(ageMs);
    const status = describeAppliance({
      name,
      url,
      labels,
      up: statistics.isUp(ageMs),
      deactivated: isLicensed() === false,
      breaker: breaker.state,
      readings,
      series: exposition.series,
      seriesLeftOut: leftOut,
      collectors: [...jobs.values()].map((job) => this.#describeCollector(job, stale)),
    });
    return { status, untilMs };
  }

  /** Returns the newest failure; while calls are held back, with the reason for that. */
  #failureOf({ collector, blocked }: Job): CollectorFailure | undefined {
    const failure = this.#sources.failures.trouble(collector.name) ?? blocked;
    const { reason } = this.#parts.breaker;
    return failure && blocked?.reason === 'breaker_open' && reason ? { ...failure, reason } : failure;
  }

  #describeCollector(job: Job, stale: ReadonlySet<string>): CollectorStatus {
    const { statistics, failures } = this.#sources;
    const { name } = job.collector;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = statistics.state.entries.get(name) ?? {};
    const isSupported = job.retryAtMs === undefined;
    const unreadable = failures.unreadableOf(name);
    return {
      name,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs,
      isStale: stale.has(name),
      isSupported,
      failure: isSupported ? this.#failureOf(job) : undefined,
      ...(unreadable.length > 0 && { unreadable }),
    };
  }
}
