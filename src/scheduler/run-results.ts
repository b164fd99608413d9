import type { CallReport } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { applianceFacts } from '../collectors/appliance-facts.ts';
import { type ApplianceCollector, type Collector, type Facts, isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { fillRegistry } from '../metrics/render.ts';
import { describeAppliance } from '../state/describe.ts';
import { keyOf, type Origin } from '../state/reading.ts';
import { type ApplianceStatus, type SkipReason, skipReasons } from '../state/status.ts';
import { Answers, type AnswersState } from './answers.ts';
import { describeCollector } from './collector-status.ts';
import { FailureLog } from './failure-log.ts';
import type { Found, Job, Outcome, Run } from './job.ts';
import { measuredIntervalMs } from './lateness.ts';
import { ownGauges } from './own-numbers.ts';
import type { SharedParts } from './poller-parts.ts';
import { ReadingStore, type StoredReading } from './reading-store.ts';
import { Transitions } from './transitions.ts';

/** Differences on the appliance that a reading shows; the loop acts on them. */
export interface Changes {
  /** Farms whose state is another one, and the new ones. */
  readonly farms: readonly string[];
  /** Farms that are new. */
  readonly newFarms: readonly string[];
  readonly version: { readonly from: string; readonly to: string | undefined } | undefined;
  /** True if the appliance no longer refuses everything because its licence is missing. */
  readonly isLicensedAgain: boolean;
}

/** Keys of the exporter's own numbers in the metrics store. */
const ownKeys = { gauges: 'exporter', counters: 'exporter counters' } as const;

/**
 * A jump of the age clock against the steady clock: the machine slept, or its clock was set. A
 * shorter one is left to the schedule: it removes only what is due within seconds.
 */
const jumpMs = 10_000;

const noChanges: Changes = { farms: [], newFarms: [], version: undefined, isLicensedAgain: false };

/**
 * Passes the results of runs to the parts that keep them, which do not know each other: the
 * readings, the transitions, the failure log, the answers, the counters and the jobs. Shows what
 * they have in `/metrics` and in the status.
 */
export class RunResults {
  readonly #parts: SharedParts;
  readonly #answers: Answers;
  readonly #failures: FailureLog;
  readonly #transitions: Transitions;
  readonly #readings: ReadingStore;
  #facts: Facts;
  /** The newest description; undefined once something of it has changed. */
  #status: ApplianceStatus | undefined;
  /** True while `/metrics` does not have the newest of the exporter's own numbers. */
  #isBehind = false;
  /** How far the age clock was ahead of the steady clock at the last look. */
  #aheadMs: number;
  /** The age after the last jump of its clock. */
  #jumpedAtMs = Number.NEGATIVE_INFINITY;
  /** `zlb_up`, its reason and the breaker as last shown: a probe changes them without a run. */
  #shown = '';

  constructor(parts: SharedParts) {
    const { jobs, state, counters, log, now } = parts;
    this.#parts = parts;
    this.#facts = applianceFacts(state.newest);
    this.#aheadMs = state.age() - steadyNow();
    counters.expect([...jobs.keys()]);
    const asking = () => [...jobs.values()].filter(({ collector }) => !collector.makesNoCalls);
    this.#answers = new Answers({
      before: state.answers,
      isAnswering: () => parts.breaker.isAnswering,
      now,
      upForMs: () => Math.min(...asking().map((job) => this.#parts.lateness.freshForMs(job))),
    });
    this.#failures = new FailureLog(log, now);
    this.#transitions = new Transitions({ appliance: parts.name, log, known: state.states, now, age: state.age });
    this.#readings = this.#createReadings();
    this.#announceIntervals();
  }

  /** Returns what collectors of this appliance learned from each other's results. */
  get facts(): Facts {
    return this.#facts;
  }

  /** Returns the data of a collector that is stored, of one farm if it is named. */
  newest<Data>(collector: Collector<Data>, farm?: string): Data | undefined {
    return this.stored(collector, farm)?.data;
  }

  /** Returns the reading of a collector that is stored, of one farm if it is named. */
  stored<Data>({ name: collector }: Collector<Data>, farm?: string) {
    // Only what this collector returned is stored under its name.
    return this.#readings.all.get(keyOf({ collector, farm })) as (StoredReading & { readonly data: Data }) | undefined;
  }

  /** Returns true if the newest data of a collector lacks a part that its next run reads. */
  isPartial(collector: Collector): boolean {
    const data = this.newest(collector);
    return data !== undefined && !isFarmCollector(collector) && collector.isPartial?.(data) === true;
  }

  /** Returns the state for the poller that replaces this one. */
  get answers(): AnswersState {
    return this.#answers.state;
  }

  called(report: CallReport): void {
    if (report.authenticated) this.#parts.lateness.answered();
    this.#answers.called(report, this.#parts.state.age());
    this.#parts.counters.called(report);
  }

  /** Keeps what a step has read; throws for a reading that makes no sense. */
  found(job: Job, origin: Origin, found: Found): Changes {
    const { unreadable } = found;
    const changes = found.data === undefined ? noChanges : this.#record(job, origin, found);
    this.#failures.recovered(origin);
    this.#failures.unreadable(origin, unreadable);
    for (const { endpoint, field, count } of unreadable) this.#parts.counters.unreadable(endpoint, field, count);
    return changes;
  }

  /** Records that a step failed; returns what that means for its run. */
  failed({ collector }: Job, origin: Origin, error: Error): Outcome {
    if (error instanceof ApplianceError && error.routeMissing && collector.optional) {
      this.#failures.unsupported(collector.name, error);
      return 'unsupported_route';
    }
    // A collector that throws on a reply which passed its schema met a reply that makes no sense.
    const reason = error instanceof ApplianceError ? error.reason : 'malformed';
    this.#failures.failed(origin, reason, error);
    this.#parts.counters.failed(collector.name, reason);
    this.#status = undefined;
    return 'failed';
  }

  runFinished(job: Job, { startedAtMs, sinceMs }: Run, outcome: Exclude<Outcome, 'closing'>): void {
    const { collector, last } = job;
    if (outcome !== 'ok') this.#readings.showWithoutReading(collector);
    if (isOneOf(skipReasons, outcome)) return;
    if (outcome === 'unsupported_route') {
      // It neither succeeds nor fails.
      job.last = {};
      return;
    }
    const ok = outcome === 'ok';
    const durationMs = steadyNow() - sinceMs;
    this.#parts.counters.ended(collector.name, ok);
    const success = ok && { lastSuccessMs: startedAtMs + durationMs };
    job.last = { ...last, ok, durationMs, lastAttemptMs: startedAtMs, ...success };
    this.#announceIntervals();
  }

  skipped({ collector }: Job, reason: SkipReason): void {
    this.#parts.counters.skipped(collector.name, reason);
  }

  /** Shows the results of a run, or of a skipped one, when all of its consequences are known. */
  ended(): void {
    this.#isBehind = true;
    this.#refresh();
  }

  /**
   * Evicts what is stale and refreshes `zlb_up`: afterwards the store has what is true now. Returns
   * the collectors that lost a reading to a jump of the clock.
   */
  expire(): ReadonlySet<string> {
    const { jobs, state } = this.#parts;
    const ageMs = state.age();
    this.#noticeJump(ageMs);
    if (this.#announceIntervals()) this.#isBehind = true;
    const evicted = this.#readings.expire(ageMs);
    for (const loser of new Set(evicted.map(({ collector }) => collector))) {
      this.#isBehind = true;
      const job = jobs.get(loser);
      if (!job) continue;
      // However late its next step, it runs as soon as the breaker closes again.
      job.missed = true;
      this.#readings.showWithoutReading(job.collector);
    }
    this.#refresh();
    const lost = evicted.filter(({ takenAtMs }) => takenAtMs < this.#jumpedAtMs);
    return new Set(lost.map(({ collector }) => collector));
  }

  /** Returns true for a collector with a reading that was evicted and not read again. */
  isMissing(collector: string): boolean {
    return this.#readings.staleCollectors.has(collector);
  }

  /** Returns the appliance as `expire` left it; the same object until something of it changes. */
  describe(): ApplianceStatus {
    return (this.#status ??= this.#describe());
  }

  #noticeJump(ageMs: number): void {
    const aheadMs = ageMs - steadyNow();
    const byMs = aheadMs - this.#aheadMs;
    this.#aheadMs = aheadMs;
    if (byMs < jumpMs) return;
    this.#jumpedAtMs = ageMs;
    this.#parts.log.info(
      { seconds: Math.round(byMs / 1_000) },
      'the clock jumped ahead, what is too old now is read again',
    );
  }

  #describe(): ApplianceStatus {
    const { name, url, labels, objectives, jobs, breaker, state, now } = this.#parts;
    const readings = this.#readings.all;
    const sources = {
      failures: this.#failures,
      breaker,
      stale: this.#readings.staleCollectors,
    };
    const [ageMs, nowMs] = [state.age(), now()];
    return describeAppliance({
      name,
      url,
      labels,
      objectives,
      up: this.#answers.isUp(ageMs),
      failing: this.#answers.failing,
      deactivated: this.#facts.licensed === false,
      breaker: breaker.state,
      readings,
      timeOf: (momentMs) => Math.round(nowMs - (ageMs - momentMs)),
      series: this.#series,
      seriesLeftOut: [...readings.values()].reduce((sum, { leftOut }) => sum + leftOut, 0),
      collectors: [...jobs.values()].map((job) => describeCollector(job, sources)),
    });
  }

  /** Returns the number of series of the appliance without the exporter's own. */
  get #series(): number {
    return this.#parts.store.series(this.#parts.name, Object.values(ownKeys));
  }

  /**
   * Shows the exporter's own numbers if they changed. Called before each look at the page, so that
   * fresh samples never appear next to `zlb_up 0`.
   */
  #refresh(): void {
    const { name, jobs, store, counters, breaker, state } = this.#parts;
    const ageMs = state.age();
    const up = this.#answers.isUp(ageMs);
    const failureReason = this.#answers.failing?.reason;
    const shown = `${up} ${failureReason} ${breaker.state}`;
    if (!this.#isBehind && shown === this.#shown) return;
    this.#isBehind = false;
    this.#shown = shown;
    this.#status = undefined;
    const numbers = {
      up,
      failureReason,
      breaker: breaker.state,
      collectors: [...jobs].map(([collector, { last }]) => ({ collector, ...last })),
      clockOffsetSeconds: this.#answers.clockOffsetSeconds(ageMs),
      series: this.#series,
    };
    store.put(name, ownKeys.counters, counters.reading());
    store.put(name, ownKeys.gauges, fillRegistry(name, writeReading(ownGauges, numbers, { compact: false })));
  }

  #record(job: Job, origin: Origin, { data, askedAtMs }: Found): Changes {
    if (this.#readings.isOvertaken(origin, askedAtMs)) return noChanges;
    const { collector, maxStaleMs } = job;
    const bytes = this.#readings.admit(origin, data);
    const freshForMs = this.#parts.lateness.freshForMs(job);
    const farms = this.#compare(job, origin, data);
    this.#readings.put(origin, {
      write: writeReading(collector.families, data, { compact: this.#parts.compact }),
      data,
      since: this.#transitions.changesOf(origin),
      takenAtMs: askedAtMs,
      maxStaleMs,
      extendedMs: freshForMs > maxStaleMs ? freshForMs : 0,
      bytes,
    });
    const changes = isFarmCollector(collector) ? noChanges : this.#updateFacts(collector, data);
    this.#status = undefined;
    return { ...changes, farms: [...farms, ...changes.newFarms] };
  }

  /** Records the transitions since the previous reading; returns the farms that changed. */
  #compare({ collector }: Job, origin: Origin, data: unknown): readonly string[] {
    const { counters, onTransition } = this.#parts;
    const transitions = this.#transitions.compare(origin, [...(collector.entity?.states(data) ?? [])]);
    for (const transition of transitions) {
      counters.transitioned(transition.object, transition.to);
      onTransition(transition);
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
      farms: [],
      newFarms: before.farms ? [...listed].filter((farm) => !known.has(farm)) : [],
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
    const { name, jobs, state, store, maxSeries, maxBytes, counters } = this.#parts;
    return new ReadingStore({
      appliance: name,
      stored: state.stored,
      evicted: state.evicted,
      store,
      maxSeries,
      maxBytes,
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
    const allowedMs = job ? Math.max(extendedMs, this.#parts.lateness.freshForMs(job)) : 0;
    return ageMs - takenAtMs < allowedMs && this.#answers.hasAnswered(ageMs) === true;
  }

  /**
   * Announces the time between runs as it is, since what one collector costs makes others late;
   * returns true if one has changed.
   */
  #announceIntervals(): boolean {
    const { jobs, cron } = this.#parts;
    let hasChanged = false;
    for (const job of jobs.values()) {
      const { retryAtMs, schedule, last } = job;
      if (retryAtMs !== undefined) continue;
      const actualMs = Math.max(measuredIntervalMs(job), cron.gapMs(schedule));
      if (last.intervalMs === actualMs) continue;
      job.last = { ...last, intervalMs: actualMs };
      hasChanged = true;
    }
    return hasChanged;
  }
}
