import type { Area } from '../appliance/api/table.ts';
import { createBreaker } from '../appliance/breaker.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { Calls, missingForMs } from './calls.ts';
import { type ApplianceStatus, type SkipReason, skipReasons } from '../state/status.ts';
import type { Origin } from '../state/reading.ts';
import type { Counters } from './counters.ts';
import { DueList, isFirst } from './due-list.ts';
import { createJob, type Due, type Found, type Job, type Outcome, ratioOfInterval, type Run } from './job.ts';
import { Lateness } from './lateness.ts';
import { type AppliancePollerParts, type PollerState, type SharedParts, stateFrom } from './poller-parts.ts';
import { Refresh } from './refresh.ts';
import { RunResults } from './run-results.ts';
import { Runner } from './runner.ts';
import { nextDue } from './schedule.ts';

/** The collectors whose readings people wait for after a start. */
const firstGroup: readonly string[] = ['farms', 'activation', 'summary', 'certificates', 'backends'];
/** Reasons for which a collector does not run until something else has changed. */
const lastingReasons = ['breaker_open', 'unlicensed', 'farms_unknown'] as const satisfies readonly SkipReason[];
/** Areas whose changes may bring routes that were missing. */
const areasOfRoutes: readonly Area[] = ['activation', 'system'];
/** The collector that finds out whether the appliance is licensed. */
const activation = 'activation';
/** The time between two reads of the activation while the appliance is deactivated. */
const whileUnlicensedMs = 60_000;
/** The part of the budget that the first collector takes, so that the others come round too. */
const ratioOfFirst = 0.5;
/** The same while it has only read a part, or would be read less often than `max_stale` needs. */
const maxRatioOfFirst = 0.9;
const betweenDoubtsMs = 60_000;

/**
 * Polls one appliance: runs each collector when it is due and admitted, and passes on what comes of
 * it. While the appliance refuses everything without a licence, only its activation is read, to
 * find out when that is over.
 */
export class AppliancePoller {
  readonly name: string;
  readonly counters: Counters;
  readonly #parts: SharedParts;
  readonly #results: RunResults;
  readonly #closing = new AbortController();
  readonly #calls: Calls;
  readonly #runner: Runner;
  readonly #refresh: Refresh;
  readonly #due: DueList;
  #licenceDoubtedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: AppliancePollerParts) {
    this.name = parts.name;
    this.counters = parts.counters;
    const shared = sharedParts(parts);
    const { connect, breaker, log, jobs, polling, state } = shared;
    const results = new RunResults(shared);
    this.#parts = shared;
    this.#results = results;
    this.#calls = new Calls({
      connect,
      breaker,
      log,
      onCall: (report) => results.called(report),
      onRecovered: () => this.#runMissed(),
      maxConcurrent: polling.maxConcurrentPerAppliance,
      maxBusyRatio: polling.maxBusyRatio,
      timeoutMs: polling.timeoutMs,
      idleMs: Math.min(...[...jobs.values()].map(({ intervalMs }) => intervalMs)) / 2,
      mayProbe: () => results.facts.licensed !== false,
      opensAtMs: state.opensAtMs,
      now: state.age,
    });
    this.#runner = new Runner({
      ...shared,
      results,
      calls: this.#calls,
      closing: this.#closing.signal,
      reasonToStop: (job) => (this.#isUnlicensed(job) ? 'unlicensed' : undefined),
      onFound: (...step) => this.#found(...step),
      onFailed: (...step) => this.#failed(...step),
    });
    this.#refresh = new Refresh({
      jobs,
      run: ({ collector }) => this.run(collector.name),
      runFarm: (job, farm) => this.#runFarm(job, farm),
    });
    this.#due = new DueList({
      jobs: [...jobs.values()],
      maxSteps: polling.maxConcurrentPerAppliance,
      opensAtMs: () => this.#calls.opensAtMs,
      mayTake: (job) => !this.#waitsForFarms(job),
      step: (job) => this.#step(job),
    });
  }

  /** Returns true after each enabled collector of the first group ran or was skipped. */
  get hadFirstRuns(): boolean {
    return [...this.#parts.jobs].every(([name, { hadFirstRun }]) => hadFirstRun || !firstGroup.includes(name));
  }

  /** Returns the state for the poller that replaces this one, after this one is closed. */
  get state(): PollerState {
    const { state, jobs } = this.#parts;
    const lastRuns = new Map([...jobs].map(([name, { last }]) => [name, last]));
    return { ...state, answers: this.#results.answers, lastRuns, opensAtMs: this.#calls.opensAtMs };
  }

  /** Shows the counters, before anything was read. */
  publish(): void {
    this.#results.ended();
  }

  /**
   * Runs every collector once, then by its schedule: the first group, then the others, and last
   * those that make no calls.
   */
  start(): void {
    // A reload may close it while it waits for its start.
    if (this.#isClosed) return;
    this.#wantAtOnce([...this.#parts.jobs.values()].toSorted(asPeopleWait));
  }

  /** Runs a collector if it is admitted; resolves when the run is over, whatever its outcome. */
  run(collector: string): Promise<void> {
    const job = this.#parts.jobs.get(collector);
    if (!job || this.#isClosed) return Promise.resolve();
    if (job.run) return job.run.over.promise;
    job.isUrgent = true;
    const run = this.#begin(job);
    if (!run) return Promise.resolve();
    job.due = { atMs: steadyNow() };
    this.#due.wake();
    return run.over.promise;
  }

  /**
   * Reads at once what shows an area of the API that was changed, of one farm if it is named. A
   * reading under way may be older than the change, and is followed by another.
   */
  changed(area: Area, farm: string | undefined): Promise<void> {
    this.#runner.farmsChanged();
    if (areasOfRoutes.includes(area)) this.#tryMissingRoutes();
    return this.#refresh.area(area, farm);
  }

  /**
   * Evicts what is stale and refreshes `zlb_up`: afterwards the store has what is true now. Reads
   * again at once what a jump of the clock made too old.
   */
  expire(): void {
    const lost = this.#results.expire();
    if (lost.size > 0) this.#readAgain([...this.#parts.jobs.values()].filter((job) => lost.has(job.collector.name)));
  }

  describe(): ApplianceStatus {
    this.expire();
    return this.#results.describe();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#due.close();
    for (const { run } of this.#parts.jobs.values()) run?.over.resolve();
    await this.#calls.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Makes jobs due now, in this order. */
  #wantAtOnce(jobs: readonly Job[]): void {
    const nowMs = steadyNow();
    for (const [index, job] of jobs.entries()) {
      // A run under way goes on as it is.
      if (job.run) continue;
      // Far less than any interval: the order of those that are due at the same moment.
      job.due = { atMs: nowMs - 1 + index / 1_000 };
      job.isUrgent = true;
    }
    this.#due.wake();
  }

  /** Runs jobs at once, and again after a run under way that had read a part before. */
  #readAgain(jobs: readonly Job[]): void {
    for (const job of jobs) {
      if (!job.run) continue;
      job.isUrgent = true;
      job.due = { atMs: steadyNow() };
      void job.run.over.promise.then(() => {
        if (this.#results.isMissing(job.collector.name)) this.#wantAtOnce([job]);
      });
    }
    this.#wantAtOnce(jobs.toSorted(asPeopleWait));
  }

  /** Returns true for what asks or probes each farm while the first list is on its way. */
  #waitsForFarms({ collector }: Job): boolean {
    const isNeeded = (isFarmCollector(collector) || collector.makesNoCalls === true) && !this.#results.facts.farms;
    return isNeeded && ['farms', 'summary'].some((name) => this.#parts.jobs.get(name)?.run);
  }

  /** Begins a run, or goes on with the one under way. */
  async #step(job: Job): Promise<void> {
    const run = job.run ?? this.#begin(job);
    if (!run) return;
    const stepMs = steadyNow();
    const outcome = await this.#runner.step(job, run);
    if (outcome !== undefined) return this.#end(job, run, outcome);
    if (job.isUrgent || !run.byFarm) return;
    // A step is never due before the last one, so that a job that is behind does not push away
    // others.
    const { begun, farms } = run.byFarm;
    const spreadMs = job.intervalMs * (ratioOfInterval - this.#parts.polling.jitterRatio);
    job.due = { atMs: Math.max(stepMs, run.sinceMs + (begun * spreadMs) / farms.length) };
  }

  /** Begins a run, and plans the next one; undefined if there is a reason to skip this one. */
  #begin(job: Job): Run | undefined {
    const { cron, lateness, now, polling, random } = this.#parts;
    const sinceMs = steadyNow();
    lateness.begin(job, sinceMs);
    const next = nextDue(job, cron, { jitterRatio: polling.jitterRatio, random });
    job.nextRunMs = next.atMs;
    for (let times = Math.floor(job.late.ms / job.intervalMs); times > 0; times -= 1) this.#skip(job, 'stretched');
    const reason = this.#reasonToSkip(job);
    if (reason) {
      job.isUrgent = false;
      job.due = this.#afterRun(job, next, 0);
      this.#skip(job, reason);
      this.#results.ended();
      return undefined;
    }
    job.run = { startedAtMs: now(), sinceMs, next, spentSeconds: 0, over: Promise.withResolvers(), byFarm: undefined };
    return job.run;
  }

  /** Returns why a job need not run now; undefined if it is admitted. */
  #reasonToSkip(job: Job): SkipReason | undefined {
    const { farms } = this.#results.facts;
    if (job.collector.makesNoCalls) return farms ? undefined : 'farms_unknown';
    if (job.retryAtMs !== undefined && this.#parts.state.age() < job.retryAtMs) return 'unsupported';
    if (this.#isUnlicensed(job)) return 'unlicensed';
    if (!this.#calls.wouldAdmit) return 'breaker_open';
    if (isFarmCollector(job.collector) && !farms) return 'farms_unknown';
    return undefined;
  }

  /**
   * Returns when a job is due whose run is over: by its schedule, but not before the first
   * collector has left others their part of the budget; soon for the activation that is missing.
   */
  #afterRun(job: Job, next: Due, earliestMs: number): Due {
    const isMissing = this.#results.facts.licensed === false && job.collector.name === activation;
    const soonMs = steadyNow() + whileUnlicensedMs;
    if (isMissing && soonMs < next.atMs) return { atMs: soonMs };
    return isFirst(job) && earliestMs > next.atMs ? { atMs: earliestMs } : next;
  }

  /**
   * Returns the time from the beginning of a run of the first collector to its next one, in which
   * the others have their part of the budget and of the time.
   */
  #turnMs({ collector, maxStaleMs }: Job, { sinceMs }: Run, budgetMs: number): number {
    const leastMs = budgetMs / maxRatioOfFirst;
    if (this.#results.isPartial(collector)) return leastMs;
    const fairMs = Math.max(budgetMs, steadyNow() - sinceMs) / ratioOfFirst;
    return Math.max(leastMs, Math.min(fairMs, maxStaleMs / 2));
  }

  /** Returns true if the appliance would refuse the calls of a job without a licence. */
  #isUnlicensed({ collector }: Job): boolean {
    return this.#results.facts.licensed === false && collector.name !== activation && this.#parts.jobs.has(activation);
  }

  #end(job: Job, run: Run, outcome: Outcome): void {
    const { polling, state } = this.#parts;
    job.run = undefined;
    job.isUrgent = false;
    job.hadFirstRun = true;
    job.missed = outcome === 'failed' || outcome === 'breaker_open';
    const budgetMs = (run.spentSeconds * 1_000) / polling.maxBusyRatio;
    job.due = this.#afterRun(job, run.next, run.sinceMs + this.#turnMs(job, run, budgetMs));
    if (outcome !== 'closing') {
      if (isOneOf(skipReasons, outcome)) {
        this.#skip(job, outcome);
      } else {
        job.blocked = undefined;
        job.retryAtMs = outcome === 'unsupported_route' ? state.age() + missingForMs : undefined;
      }
      this.#results.runFinished(job, run, outcome);
      this.#results.ended();
    }
    run.over.resolve();
  }

  async #runFarm(job: Job, farm: string): Promise<void> {
    const { collector } = job;
    if (!isFarmCollector(collector) || this.#reasonToSkip(job) || this.#isClosed) return;
    await this.#runner.farm(job, collector, farm);
    this.#results.ended();
  }

  #skip(job: Job, reason: SkipReason): void {
    job.hadFirstRun = true;
    if (reason === 'breaker_open') job.missed = true;
    if (isOneOf(lastingReasons, reason)) job.blocked = { reason, sinceMs: job.blocked?.sinceMs ?? this.#parts.now() };
    this.#results.skipped(job, reason);
  }

  #found(job: Job, origin: Origin, found: Found): void {
    const { farms, newFarms, version, isLicensedAgain } = this.#results.found(job, origin, found);
    // Until their next run, backends and probes would show what was before.
    for (const farm of farms) void this.#refresh.farm(farm, newFarms.includes(farm));
    if (version) {
      this.#parts.log.info(version, 'version changed, missing routes are tried again');
      this.#tryMissingRoutes();
    }
    if (isLicensedAgain) this.#runLicensed();
  }

  #failed(job: Job, origin: Origin, error: Error): Outcome {
    const outcome = this.#results.failed(job, origin, error);
    if (error instanceof ApplianceError && error.reason === 'unlicensed') this.#doubtLicence();
    return outcome;
  }

  #tryMissingRoutes(): void {
    for (const job of this.#parts.jobs.values()) job.retryAtMs = undefined;
    this.#calls.forgetMissingRoutes();
  }

  /**
   * Reads the activation after a 402: it says whether everything is refused, or one module alone
   * (docs/api.md §8).
   */
  #doubtLicence(): void {
    if (steadyNow() - this.#licenceDoubtedAtMs < betweenDoubtsMs) return;
    this.#licenceDoubtedAtMs = steadyNow();
    this.#wantAtOnce([this.#parts.jobs.get(activation)].filter((job) => job !== undefined));
  }

  /** Runs at once the collectors that waited for the licence. */
  #runLicensed(): void {
    this.#tryMissingRoutes();
    this.#wantAtOnce(
      [...this.#parts.jobs.values()].filter(
        ({ collector }) => collector.name !== activation && !collector.makesNoCalls,
      ),
    );
  }

  /**
   * Runs at once the collectors that missed a run, and need not wait for their schedule as well.
   * Reads the version and missing routes too, since an appliance that was away may have been
   * upgraded.
   */
  #runMissed(): void {
    this.#tryMissingRoutes();
    this.#wantAtOnce(
      [...this.#parts.jobs.values()].filter(({ missed, collector }) => missed || collector.name === 'appliance'),
    );
  }
}

/** Orders jobs: the first group, then the others, and last those that make no calls. */
function asPeopleWait(one: Job, other: Job): number {
  const groupOf = ({ collector }: Job): number =>
    collector.makesNoCalls ? 2 : firstGroup.includes(collector.name) ? 0 : 1;
  return groupOf(one) - groupOf(other);
}

function sharedParts(parts: AppliancePollerParts): SharedParts {
  const { name: appliance, collectors, polling, cron, random } = parts;
  const { jitterRatio } = polling;
  const jobs = new Map(
    collectors.map((each, priority) => {
      const { name } = each.collector;
      const intervalMs = cron.intervalMs(each.schedule);
      const last = parts.state?.lastRuns.get(name);
      return [name, createJob(each, { appliance, priority, intervalMs, jitterRatio, last })];
    }),
  );
  const state = stateFrom(parts, jobs);
  return { ...parts, jobs, state, breaker: createBreaker({ now: state.age, random }), lateness: new Lateness() };
}
