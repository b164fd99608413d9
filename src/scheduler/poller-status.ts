import type { Breaker } from '../appliance/breaker.ts';
import { isPerFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { fillRegistry } from '../metrics/render.ts';
import { buildApplianceStatus } from '../state/appliance-status.ts';
import type { ApplianceStatus, CollectorFailure, CollectorStatus } from '../state/status.ts';
import type { Job } from './job.ts';
import { measuredIntervalMs } from './lateness.ts';
import { pollerGauges, type PollerMetrics } from './poller-metrics.ts';
import type { PollerServices } from './poller-services.ts';

const storeKeys = { gauges: 'exporter', counters: 'exporter counters' } as const;

/**
 * Describes a poller and its appliance: in metrics of its own, in the status for the pages, and to
 * listeners when the appliance starts or stops to answer.
 */
export class PollerStatus {
  readonly #parts: PollerServices;
  /** The newest description; undefined once something of it has changed. */
  #status: ApplianceStatus | undefined;
  /** The numbers that change without a run, as they were published last. */
  #published = '';
  #wasUp: boolean | undefined;

  constructor(parts: PollerServices) {
    this.#parts = parts;
  }

  invalidate(): void {
    this.#status = undefined;
  }

  /** Publishes the metrics after a run, or a skipped one, when all of its consequences are known. */
  publish(): void {
    this.#published = '';
    this.publishIfChanged();
  }

  /**
   * Publishes the metrics if one has changed. Called before each look at the page, so that fresh
   * samples never appear next to `zlb_up 0`.
   */
  publishIfChanged(): void {
    const { name, store, counters } = this.#parts;
    const numbers = this.#numbers();
    const { up, failureReason, breaker, series, certificate } = numbers;
    const times = numbers.collectors.flatMap(({ intervalMs, roundMs }) => [intervalMs, roundMs]);
    const published = [up, failureReason, breaker, series, certificate?.notAfterSeconds, ...times].join(' ');
    if (published === this.#published) return;
    this.#published = published;
    this.#status = undefined;
    this.#notifyListeners(numbers);
    store.put(name, storeKeys.counters, counters.current());
    store.put(name, storeKeys.gauges, fillRegistry(name, writeReading(pollerGauges, numbers, { compact: false })));
  }

  #numbers(): PollerMetrics {
    const { name, jobs, store, breaker, availability, state } = this.#parts;
    const nowElapsedMs = state.elapsedNow();
    return {
      up: availability.isUp(nowElapsedMs),
      failureReason: availability.state.failing?.reason,
      breaker: breaker.state,
      collectors: [...jobs].map(([collector, job]) => ({
        collector,
        ...job.last,
        intervalMs: this.#intervalMs(job),
        roundMs: this.#roundMs(job),
      })),
      clockOffsetSeconds: availability.clockOffsetSeconds(nowElapsedMs),
      certificate: availability.state.certificate,
      series: store.series(name).shown,
    };
  }

  #notifyListeners({ up, failureReason }: PollerMetrics): void {
    const isChange = up !== undefined && this.#wasUp !== undefined && up !== this.#wasUp;
    this.#wasUp = up ?? this.#wasUp;
    if (isChange) for (const listener of this.#parts.listeners ?? []) listener.onAnswering?.(up, failureReason);
  }

  /** Returns the status of the appliance; the same object until something of it changes. */
  status(): ApplianceStatus {
    return (this.#status ??= this.#build());
  }

  #build(): ApplianceStatus {
    const { name, url, labels, objectives, isRequestLogEmpty, jobs, breaker, availability, state, store, now } =
      this.#parts;
    const { shown, leftOut } = store.series(name);
    const [nowElapsedMs, nowMs] = [state.elapsedNow(), now()];
    const stale = state.staleCollectors;
    return buildApplianceStatus({
      name,
      url,
      labels,
      objectives,
      isRequestLogEmpty: isRequestLogEmpty?.() ?? false,
      up: availability.isUp(nowElapsedMs),
      failing: availability.state.failing,
      deactivated: state.facts.isActivated === false,
      breaker: breaker.state,
      apiCertificate: availability.state.certificate,
      readings: state.snapshot(),
      lastKnown: state.lastKnown,
      unixMsOf: (atElapsedMs) => Math.round(nowMs - (nowElapsedMs - atElapsedMs)),
      series: shown,
      seriesLeftOut: leftOut,
      collectors: [...jobs.values()].map((job) => this.#collectorStatus(job, stale)),
    });
  }

  #collectorStatus(job: Job, stale: ReadonlySet<string>): CollectorStatus {
    const { failures, breaker } = this.#parts;
    const { name } = job.collector;
    const { ok, lastSuccessMs } = job.last;
    const isSupported = job.retryAtElapsedMs === undefined;
    const unreadable = failures.unreadableOf(name);
    return {
      name,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs: this.#intervalMs(job) ?? job.intervalMs,
      isStale: stale.has(name),
      isSupported,
      failure: isSupported ? failureOf(job, failures.failureOf(name), breaker) : undefined,
      ...(unreadable.length > 0 && { unreadable }),
    };
  }

  /**
   * Returns the measured time between runs, since one collector's cost makes others late;
   * undefined where the appliance lacks what it reads.
   */
  #intervalMs(job: Job): number | undefined {
    if (job.retryAtElapsedMs !== undefined) return undefined;
    return Math.max(measuredIntervalMs(job), this.#parts.cron.currentGapMs(job.schedule));
  }

  /** Returns the time in which each farm is read once, in whole intervals. */
  #roundMs(job: Job): number | undefined {
    const intervalMs = this.#intervalMs(job);
    if (!isPerFarmCollector(job.collector) || intervalMs === undefined) return undefined;
    const roundMs = this.#parts.lateness.roundMs(job);
    return Math.max(intervalMs, Math.ceil(roundMs / job.intervalMs) * job.intervalMs);
  }
}

/** Returns the newest failure; while calls are held back, with the reason for that. */
function failureOf(
  { blocked }: Job,
  ongoing: CollectorFailure | undefined,
  breaker: Breaker,
): CollectorFailure | undefined {
  const failure = ongoing ?? blocked;
  const { reason } = breaker;
  return failure && blocked?.reason === 'breaker_open' && reason ? { ...failure, reason } : failure;
}
