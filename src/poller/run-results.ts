import type { CallReport } from '../appliance/client.ts';
import { applianceFacts } from '../collectors/appliance-facts.ts';
import { type ApplianceCollector, type Collector, type Facts, isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { type CollectorStatistics, createCollectorStatistics } from './collector-statistics.ts';
import { type ApplianceStatus, type SkipReason, skipReasons } from '../status/status.ts';
import { Exposition } from './exposition.ts';
import { FailureLog } from './failure-log.ts';
import type { FreshData, Job, RunFinished, StepFinished } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { Origin } from '../status/reading.ts';
import { ReadingStore, type StoredReading } from './reading-store.ts';
import { StatusCache } from './status-cache.ts';
import { Transitions } from './transitions.ts';

/** Differences on the appliance that a reading shows; the loop acts on them. */
export interface Changes {
  /** Farms whose state is another one, and farms that are new. */
  readonly farms: readonly string[];
  readonly version: { readonly from: string; readonly to: string | undefined } | undefined;
  /** True if the appliance no longer refuses everything because its licence is missing. */
  readonly isLicensedAgain: boolean;
}

const noChanges: Changes = { farms: [], version: undefined, isLicensedAgain: false };

/**
 * Passes the results of runs to the parts that keep them: the statistics, the transitions, the
 * readings, the failure log, and the two views, `/metrics` and the status. The parts that keep do
 * not know each other; the two views read them.
 */
export class RunResults {
  readonly #parts: SharedParts;
  readonly #statistics: CollectorStatistics;
  readonly #failures: FailureLog;
  readonly #transitions: Transitions;
  readonly #readings: ReadingStore;
  readonly #exposition: Exposition;
  readonly #status: StatusCache;
  #facts: Facts;
  /** When the appliance last answered, steady. */
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #lostMs = 0;

  constructor(parts: SharedParts) {
    const { jobs, state, counters, log, now } = parts;
    this.#parts = parts;
    this.#facts = applianceFacts(state.newest);
    this.#statistics = createCollectorStatistics({
      collectors: [...jobs.keys()],
      counters,
      before: state.statistics,
      isAnswering: () => parts.breaker.isAnswering,
      upForMs: () => Math.min(...[...jobs.values()].map((job) => this.#freshForMs(job))),
    });
    this.#failures = new FailureLog(log, now);
    this.#transitions = new Transitions({ log, known: state.states, now });
    this.#readings = this.#createReadings();
    this.#exposition = new Exposition({ ...parts, statistics: this.#statistics, readings: this.#readings });
    this.#status = new StatusCache(parts, {
      readings: this.#readings,
      exposition: this.#exposition,
      statistics: this.#statistics,
      failures: this.#failures,
      isLicensed: () => this.#facts.licensed,
    });
    this.#announceIntervals();
    this.#dropLeftOut();
  }

  /** Returns what collectors of this appliance learned from each other's results. */
  get facts(): Facts {
    return this.#facts;
  }

  /** Returns the data of a collector that is stored, of one farm if it is named. */
  newest<Data>(collector: Collector<Data>, farm?: string): Data | undefined {
    // Only what this collector returned is stored under its name.
    return this.#readings.newest({ collector: collector.name, farm }) as Data | undefined;
  }

  /** Returns the statistics for the poller that replaces this one. */
  get statistics(): CollectorStatistics['state'] {
    return this.#statistics.state;
  }

  /** Returns the time that was spent on calls that failed. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /** Records time that was spent on a call that failed: no reading is extended for it. */
  lost(ms: number): void {
    this.#lostMs += ms;
  }

  called(report: CallReport): void {
    if (report.authenticated) this.#answeredAtMs = steadyNow();
    this.#statistics.called(report, this.#parts.state.age());
  }

  /** Stores a reading or records a failure; throws for a reading that makes no sense. */
  stepFinished(step: StepFinished): Changes {
    const { job, origin, outcome } = step;
    if (outcome === 'ok') {
      const changes = step.reading ? this.#record(job, origin, step.reading) : noChanges;
      this.#failures.recovered(origin);
      this.#failures.unreadable(origin, step.unreadable);
      for (const { endpoint, field, count } of step.unreadable) this.#parts.counters.unreadable(endpoint, field, count);
      return changes;
    }
    if (outcome === 'unsupported_route') {
      this.#failures.unsupported(origin.collector, step.error);
      return noChanges;
    }
    this.#failures.failed(origin, step.reason, step.error);
    this.#parts.counters.failed(origin.collector, step.reason);
    this.#status.invalidate();
    return noChanges;
  }

  runFinished({ job, outcome, startedAtMs, durationMs }: RunFinished): void {
    const { collector } = job;
    if (outcome !== 'ok') this.#exposition.withoutReading(job);
    if (isOneOf(skipReasons, outcome)) return;
    if (outcome === 'unsupported_route') return this.#statistics.unsupported(collector.name);
    this.#statistics.attempted({ collector: collector.name, startedAtMs, durationMs, ok: outcome === 'ok' });
    this.#announceIntervals();
  }

  skipped({ collector }: Job, reason: SkipReason): void {
    this.#parts.counters.skipped(collector.name, reason);
  }

  /** Shows the results of a run, or of a skipped one, when all of its consequences are known. */
  ended(): void {
    this.#invalidate();
    this.#exposition.refresh();
  }

  /** Evicts what is stale and refreshes `zlb_up`: afterwards the store has what is true now. */
  expire(): void {
    if (this.#announceIntervals()) this.#invalidate();
    this.#exposition.expire();
  }

  describe(): ApplianceStatus {
    return this.#status.current();
  }

  #record(job: Job, origin: Origin, { data, askedAtMs }: FreshData): Changes {
    if (this.#readings.isOvertaken(origin, askedAtMs)) return noChanges;
    const { collector, maxStaleMs } = job;
    const freshForMs = this.#freshForMs(job);
    const farms = this.#compare(job, origin, data);
    this.#readings.put(origin, {
      write: writeReading(collector.families, data, { compact: this.#parts.compact }),
      data,
      sinceMs: this.#transitions.changesOf(origin),
      takenAtMs: askedAtMs,
      maxStaleMs,
      extendedMs: freshForMs > maxStaleMs ? freshForMs : 0,
    });
    const changes = isFarmCollector(collector) ? noChanges : this.#updateFacts(collector, data);
    this.#exposition.refresh();
    return { ...changes, farms: [...farms, ...changes.farms] };
  }

  /** Records the transitions since the previous reading; returns the farms that changed. */
  #compare({ collector }: Job, origin: Origin, data: unknown): readonly string[] {
    const { name: appliance, counters, onTransition } = this.#parts;
    const transitions = this.#transitions.compare(origin, [...(collector.entity?.states(data) ?? [])]);
    for (const transition of transitions) {
      counters.transitioned(transition.object, transition.to);
      onTransition({ appliance, ...transition });
    }
    return transitions.flatMap(({ object, labels: { farm } }) => (object === 'farm' && farm !== undefined ? farm : []));
  }

  #updateFacts({ name }: ApplianceCollector, data: unknown): Changes {
    const { newest } = this.#parts.state;
    const before = this.#facts;
    newest.set(name, data);
    const after = applianceFacts(newest);
    this.#facts = after;
    const listed = new Set(after.farms?.map((farm) => farm.name));
    for (const farm of before.farms ?? []) if (!listed.has(farm.name)) this.#forgetFarm(farm.name);
    const known = new Set(before.farms?.map((farm) => farm.name));
    const isNew = before.version !== undefined && after.version !== before.version;
    return {
      farms: before.farms ? [...listed].filter((farm) => !known.has(farm)) : [],
      version: isNew ? { from: before.version, to: after.version } : undefined,
      isLicensedAgain: before.licensed === false && after.licensed === true,
    };
  }

  #forgetFarm(farm: string): void {
    for (const collector of this.#parts.jobs.keys()) this.#forget({ collector, farm });
  }

  #forget(origin: Origin): void {
    this.#readings.remove(origin);
    this.#transitions.forget(origin);
    this.#failures.forget(origin);
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
    const allowedMs = job ? Math.max(extendedMs, this.#freshForMs(job)) : 0;
    return ageMs - takenAtMs < allowedMs && this.#statistics.hasAnswered(ageMs) === true;
  }

  /** Drops what the poller before has stored, and the new settings leave out. */
  #dropLeftOut(): void {
    const { jobs, state, watches } = this.#parts;
    for (const collector of state.statistics?.entries.keys() ?? [])
      if (!jobs.has(collector)) this.#readings.clear(collector);
    for (const { collector, farm } of [...state.stored.values(), ...state.evicted.values()])
      if (farm !== undefined && !watches(farm)) this.#forget({ collector, farm });
  }

  /**
   * Returns how long a reading stays while the appliance answers. An interval stretched beyond
   * `max_stale` must not make it blink: then it stays for two of the intervals that are possible.
   * Failures, and a call that is not answered yet, stretch nothing here, however long they take.
   */
  #freshForMs(job: Job): number {
    const { intervalMs, maxStaleMs, late, dueMs, lostBeforeMs } = job;
    const waitedMs = this.#answeredAtMs - dueMs - (this.#lostMs - lostBeforeMs);
    const lateMs = Math.max(late.ms - late.lostMs, waitedMs, 0);
    return lateMs > 0 ? Math.max(maxStaleMs, 2 * (intervalMs + lateMs)) : maxStaleMs;
  }

  /**
   * Announces the time between runs as it is, since what one collector costs makes others late;
   * returns true if one has changed.
   */
  #announceIntervals(): boolean {
    const { jobs, cron } = this.#parts;
    let hasChanged = false;
    for (const [collector, { retryAtMs, late, dueMs, intervalMs, schedule }] of jobs) {
      if (retryAtMs !== undefined) continue;
      const lateMs = Math.max(late.ms, steadyNow() - dueMs);
      const measuredMs = Math.round((intervalMs + lateMs) / intervalMs) * intervalMs;
      const isOther = this.#statistics.intervalIs(collector, Math.max(measuredMs, cron.gapMs(schedule)));
      hasChanged ||= isOther;
    }
    return hasChanged;
  }

  #invalidate(): void {
    this.#exposition.invalidate();
    this.#status.invalidate();
  }
}
