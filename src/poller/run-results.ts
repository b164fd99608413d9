import type { Logger } from 'pino';
import type { BreakerState } from '../appliance/breaker.ts';
import type { CallReport } from '../appliance/client.ts';
import { type Collector, type Facts, isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { type CollectorStatistics, createCollectorStatistics } from './collector-statistics.ts';
import { type Counters, type SkipReason, skipReasons } from './counters.ts';
import { Exposition } from './exposition.ts';
import { FailureLog } from './failure-log.ts';
import { createIntervalBudget, type IntervalBudget } from './interval-budget.ts';
import type { Job } from './job.ts';
import { KnownFacts, type PollerState } from './poller-state.ts';
import { ReadingStore, type StoredReading } from './reading-store.ts';
import type { RunFinished, RunListener } from './run-loop.ts';
import type { FreshData, StepFinished } from './runner.ts';
import { Timing } from './schedule.ts';
import { type Origin, type Snapshot, Snapshots } from './snapshot.ts';
import { type Transition, Transitions } from './transitions.ts';

export interface RunResultsParts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly jobs: ReadonlyMap<string, Job>;
  readonly state: PollerState;
  readonly watches: (farm: string) => boolean;
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
  readonly polling: { readonly maxBusyRatio: number; readonly jitterRatio: number };
  readonly maxSeries: number;
  readonly counters: Counters;
  readonly store: MetricsStore;
  readonly breakerState: () => BreakerState;
  readonly onTransition: (transition: Transition) => void;
  readonly onVersionChanged: () => void;
  /** Called when the appliance no longer refuses everything because its licence is missing. */
  readonly onLicensedAgain: () => void;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Passes the results of runs to the parts that keep them: the interval budget, the statistics, the
 * transitions, the readings, the failure log, and the two views, `/metrics` and the snapshot. No
 * part knows another one.
 */
export class RunResults implements RunListener {
  readonly budget: IntervalBudget;
  readonly timing: Timing;
  readonly #parts: RunResultsParts;
  readonly #statistics: CollectorStatistics;
  readonly #failures: FailureLog;
  readonly #transitions: Transitions;
  readonly #readings: ReadingStore;
  readonly #facts: KnownFacts;
  readonly #exposition: Exposition;
  readonly #snapshots: Snapshots;

  constructor(parts: RunResultsParts) {
    const { jobs, state, counters, polling, breakerState, log, now } = parts;
    const { age } = state;
    this.#parts = parts;
    this.budget = createIntervalBudget(
      [...jobs].map(([name, { intervalMs }]) => ({ name, intervalMs })),
      polling.maxBusyRatio,
      () => this.#intervalsChanged(),
    );
    this.timing = new Timing({ budget: this.budget, jitterRatio: polling.jitterRatio, steadyNow });
    this.#statistics = createCollectorStatistics({
      collectors: [...jobs.keys()],
      counters,
      before: state.statistics,
      upForMs: () => Math.min(...[...jobs.values()].map((job) => this.timing.freshForMs(job))),
    });
    this.#failures = new FailureLog(log, now);
    this.#transitions = new Transitions({
      log,
      known: state.states,
      onTransition: (transition) => this.#transitioned(transition),
      now,
    });
    this.#readings = this.#createReadings();
    this.#facts = this.#createFacts();
    const [readings, statistics] = [this.#readings, this.#statistics];
    this.#exposition = new Exposition({ ...parts, appliance: parts.name, statistics, readingStore: readings, age });
    this.#snapshots = new Snapshots({
      ...parts,
      isLicensed: () => this.facts.licensed,
      readings,
      exposition: this.#exposition,
      statistics,
      failures: this.#failures,
      breakerState,
      age,
    });
    this.#dropLeftOut();
  }

  get facts(): Facts {
    return this.#facts.current;
  }

  /** Returns the data of a collector that is stored, of one farm if it is named. */
  newest<Data>({ name }: Collector<Data>, farm?: string): Data | undefined {
    // Only what this collector returned is stored under its name.
    const origin = farm === undefined ? { collector: name } : { collector: name, farm };
    return this.#readings.newest(origin) as Data | undefined;
  }

  /** Returns the statistics for the poller that replaces this one. */
  get statistics(): CollectorStatistics['state'] {
    return this.#statistics.state;
  }

  /** Shows the intervals of the schedules, before the first run. */
  started(): void {
    for (const [collector, { intervalMs }] of this.#parts.jobs) this.#statistics.stretchedTo(collector, intervalMs);
  }

  called(report: CallReport): void {
    this.#statistics.called(report, this.#parts.state.age());
  }

  stepFinished(step: StepFinished): void {
    const { job, origin, outcome } = step;
    if (outcome === 'unsupported_route') return this.#failures.unsupported(origin.collector, step.error);
    if (outcome === 'ok') {
      if (step.reading) this.#record(job, origin, step.reading);
      return this.#failures.recovered(origin);
    }
    this.#failures.failed(origin, step.reason, step.error);
    this.#parts.counters.failed(origin.collector, step.reason);
    this.#snapshots.invalidate();
  }

  runFinished({ job, outcome, startedAtMs, durationMs, busySeconds }: RunFinished): void {
    const { collector } = job;
    if (outcome !== 'ok') this.#exposition.withoutReading(job);
    if (isOneOf(skipReasons, outcome)) return;
    if (!isFarmCollector(collector)) this.budget.spent(collector.name, busySeconds);
    if (outcome === 'unsupported_route') return this.#statistics.unsupported(collector.name);
    this.#statistics.attempted({ collector: collector.name, startedAtMs, durationMs, ok: outcome === 'ok' });
    this.#announceIntervals();
  }

  skipped({ collector }: Job, reason: SkipReason): void {
    this.#parts.counters.skipped(collector.name, reason);
  }

  ended(): void {
    this.#invalidate();
    this.#exposition.refresh();
  }

  expire(): void {
    this.#exposition.expire(this.#parts.jobs);
  }

  snapshot(): Snapshot {
    return this.#snapshots.current();
  }

  #record(job: Job, origin: Origin, { data, askedAtMs }: FreshData): void {
    if (this.#readings.isOvertaken(origin, askedAtMs)) return;
    const { collector, maxStaleMs } = job;
    const freshForMs = this.timing.freshForMs(job);
    this.#transitions.compare(origin, [...(collector.entity?.states(data) ?? [])]);
    this.#readings.put(origin, {
      write: writeReading(collector.families, data, { compact: this.#parts.compact }),
      data,
      sinceMs: this.#transitions.changesOf(origin),
      takenAtMs: askedAtMs,
      maxStaleMs,
      extendedMs: freshForMs > maxStaleMs ? freshForMs : 0,
    });
    if (!isFarmCollector(collector)) this.#facts.update(collector, data);
    this.#exposition.refresh();
  }

  #createReadings(): ReadingStore {
    const { name, jobs, state, store, maxSeries, counters } = this.#parts;
    return new ReadingStore({
      appliance: name,
      stored: state.stored,
      evicted: state.evicted,
      store,
      maxSeries,
      priority: (collector) => jobs.get(collector)?.priority ?? jobs.size,
      isExtended: (reading, ageMs) => this.#isExtended(reading, ageMs),
      onDropped: (reason, series) => {
        counters.dropped(reason, series);
        this.#failures.seriesDropped(reason, series);
      },
      onUnknownState: (family, word) => this.#failures.unknownWord(family, word),
    });
  }

  /**
   * Decides by the intervals of that moment, and never extends a reading of an appliance that does
   * not answer.
   */
  #isExtended({ collector, takenAtMs, extendedMs }: StoredReading, ageMs: number): boolean {
    const job = this.#parts.jobs.get(collector);
    const allowedMs = job ? Math.max(extendedMs, this.timing.freshForMs(job)) : 0;
    return ageMs - takenAtMs < allowedMs && this.#statistics.isUp(ageMs) === true;
  }

  #createFacts(): KnownFacts {
    const { jobs, state, log, onVersionChanged, onLicensedAgain } = this.#parts;
    return new KnownFacts({
      newest: state.newest,
      onVersionChanged(from, to) {
        log.info({ from, to }, 'version changed, missing routes are tried again');
        for (const job of jobs.values()) job.retryAtMs = undefined;
        onVersionChanged();
      },
      onFarmGone: (farm) => {
        for (const collector of jobs.keys()) this.#forget({ collector, farm });
      },
      onLicensedAgain,
    });
  }

  #forget(origin: Origin): void {
    this.#readings.remove(origin);
    this.#transitions.forget(origin);
    this.#failures.forget(origin);
  }

  /** Drops what the poller before has stored, and the new settings leave out. */
  #dropLeftOut(): void {
    const { jobs, state, watches } = this.#parts;
    for (const collector of state.statistics?.entries.keys() ?? [])
      if (!jobs.has(collector)) this.#readings.clear(collector);
    for (const { collector, farm } of [...state.stored.values(), ...state.evicted.values()])
      if (farm !== undefined && !watches(farm)) this.#forget({ collector, farm });
  }

  #transitioned(transition: Transition): void {
    this.#parts.counters.transitioned(transition.object, transition.to);
    this.#parts.onTransition(transition);
  }

  #intervalsChanged(): void {
    this.#announceIntervals();
    this.#invalidate();
  }

  /** Announces all of them: what one collector costs stretches others as well. */
  #announceIntervals(): void {
    for (const [collector, job] of this.#parts.jobs)
      if (job.retryAtMs === undefined) this.#statistics.stretchedTo(collector, this.timing.effectiveIntervalMs(job));
  }

  #invalidate(): void {
    this.#exposition.invalidate();
    this.#snapshots.invalidate();
  }
}
