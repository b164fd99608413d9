import type { Area } from '../appliance/api/table.ts';
import { createBreaker } from '../appliance/breaker.ts';
import { type Collector, isFarmCollector } from '../collectors/collector.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { Caller } from './caller.ts';
import { type Counters, type SkipReason, skipReasons } from './counters.ts';
import { createJob, type Job, type Pace, type StepFinished } from './job.ts';
import { type AppliancePollerParts, type PollerState, type SharedParts, stateFrom } from './poller-parts.ts';
import { Refresh } from './refresh.ts';
import { RunResults } from './run-results.ts';
import { Runner } from './runner.ts';
import { Schedule } from './schedule.ts';
import type { ApplianceStatus } from './status.ts';

/** The collectors whose readings people wait for after a start. */
const firstGroup: readonly string[] = ['farms', 'activation', 'summary', 'certificates', 'backends'];
/** Reasons for which a collector does not run until something else has changed. */
const lastingReasons = ['breaker_open', 'unlicensed', 'farms_unknown'] as const satisfies readonly SkipReason[];
/** A route that an edition lacks stays missing, but a 404 may also have been a bad moment. */
const retryMissingAfterMs = 3_600_000;
/** The collector that finds out whether the appliance is licensed. */
const activation = 'activation';
/** The schedule of the activation while the appliance is deactivated: once a minute. */
const whileUnlicensed = '0 * * * * *';
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
  readonly #caller: Caller;
  readonly #runner: Runner;
  readonly #refresh: Refresh;
  readonly #schedule: Schedule;
  #licenceDoubtedAtMs = Number.NEGATIVE_INFINITY;
  #stopAskingForLicence = (): void => undefined;

  constructor(parts: AppliancePollerParts) {
    this.name = parts.name;
    this.counters = parts.counters;
    const shared = sharedParts(parts);
    const { connect, breaker, log, jobs, polling, state, cron, random } = shared;
    const results = new RunResults(shared);
    this.#parts = shared;
    this.#results = results;
    this.#caller = new Caller({
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
      caller: this.#caller,
      closing: this.#closing.signal,
      reasonToStop: (job) => (this.#isUnlicensed(job) ? 'unlicensed' : undefined),
      onStep: (step) => this.#stepFinished(step),
    });
    this.#refresh = new Refresh({
      jobs,
      run: ({ collector }) => this.run(collector.name),
      runFarm: (job, farm) => this.#runFarm(job, farm),
    });
    this.#schedule = new Schedule({
      cron,
      budget: results.budget,
      jitterRatio: polling.jitterRatio,
      random,
      age: state.age,
      onStretched: (job) => this.#skip(job, 'stretched'),
      run: (collector, pace) => void this.run(collector, pace),
    });
  }

  /** Returns true after each enabled collector of the first group ran or was skipped. */
  get hadFirstRuns(): boolean {
    return [...this.#parts.jobs].every(([name, { hadFirstRun }]) => hadFirstRun || !firstGroup.includes(name));
  }

  /** Returns the state for the poller that replaces this one, after this one is closed. */
  get state(): PollerState {
    return { ...this.#parts.state, statistics: this.#results.statistics, opensAtMs: this.#caller.opensAtMs };
  }

  /** Shows the counters, before anything was read. */
  publish(): void {
    this.#results.ended();
  }

  /** Runs every collector once, then by its schedule. */
  start(): void {
    // A reload may close it while it waits for its start.
    if (this.#isClosed) return;
    const { jobs, cron } = this.#parts;
    this.#schedule.start(jobs.values());
    this.#stopAskingForLicence = cron.subscribe(whileUnlicensed, () => {
      if (this.#results.facts.licensed === false) void this.run(activation);
    });
    void this.#firstRuns();
  }

  /** Runs a collector if it is admitted; resolves when the run is over, whatever its outcome. */
  run(collector: string, pace: Pace = 'at_once'): Promise<void> {
    const job = this.#parts.jobs.get(collector);
    if (!job || this.#isClosed) return Promise.resolve();
    const reason = job.running ? 'overlap' : this.#reasonToSkip(job);
    if (reason) {
      this.#skip(job, reason);
      this.#results.ended();
      return job.running ?? Promise.resolve();
    }
    job.running = this.#attempt(job, pace).finally(() => {
      job.running = undefined;
      if (!this.#isClosed) this.#results.ended();
    });
    return job.running;
  }

  /**
   * Reads at once what shows an area of the API that was changed, of one farm if it is named. A
   * reading under way may be older than the change, and is followed by another.
   */
  changed(area: Area, farm: string | undefined): Promise<void> {
    return this.#refresh.area(area, farm);
  }

  /** Evicts what is stale and refreshes `zlb_up`: afterwards the store has what is true now. */
  expire(): void {
    this.#results.expire();
  }

  describe(): ApplianceStatus {
    return this.#results.describe();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#schedule.close();
    this.#stopAskingForLicence();
    await Promise.allSettled([...this.#parts.jobs.values()].flatMap(({ running }) => running ?? []));
    await this.#caller.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Runs the first group, then the others, and last those that make no calls. */
  async #firstRuns(): Promise<void> {
    const all = [...this.#parts.jobs.values()].map(({ collector }) => collector);
    const calling = all.filter(({ makesNoCalls }) => !makesNoCalls);
    await this.#runGroup(calling.filter(({ name }) => firstGroup.includes(name)));
    await this.#runGroup(calling.filter(({ name }) => !firstGroup.includes(name)));
    this.#startAll(all.filter(({ makesNoCalls }) => makesNoCalls));
  }

  /**
   * Runs the collectors that ask farm by farm once the first list of farms is there; the call queue
   * orders the rest.
   */
  async #runGroup(collectors: readonly Collector[]): Promise<void> {
    const whole = this.#startAll(collectors.filter((collector) => !isFarmCollector(collector)));
    await Promise.all(['farms', 'summary'].flatMap((name) => whole.get(name) ?? []));
    const byFarm = this.#startAll(collectors.filter((collector) => isFarmCollector(collector)));
    await Promise.all([...whole.values(), ...byFarm.values()]);
  }

  /** Runs collectors at once; returns their runs by name. */
  #startAll(collectors: readonly Collector[]): ReadonlyMap<string, Promise<void>> {
    return new Map(collectors.map(({ name }) => [name, this.run(name)]));
  }

  /** Returns why a job need not run now; undefined if it is admitted. */
  #reasonToSkip(job: Job): SkipReason | undefined {
    const { farms } = this.#results.facts;
    if (job.collector.makesNoCalls) return farms ? undefined : 'farms_unknown';
    if (job.retryAtMs !== undefined && this.#parts.state.age() < job.retryAtMs) return 'unsupported';
    if (this.#isUnlicensed(job)) return 'unlicensed';
    if (!this.#caller.wouldAdmit) return 'breaker_open';
    if (isFarmCollector(job.collector) && !farms) return 'farms_unknown';
    return undefined;
  }

  /** Returns true if the appliance would refuse the calls of a job without a licence. */
  #isUnlicensed({ collector }: Job): boolean {
    return this.#results.facts.licensed === false && collector.name !== activation && this.#parts.jobs.has(activation);
  }

  async #attempt(job: Job, pace: Pace): Promise<void> {
    const { state, now } = this.#parts;
    const startedAtMs = now();
    const current = { sinceMs: steadyNow(), lostMs: 0 };
    Object.assign(job, { startedAtMs: state.age(), current, spentSeconds: 0 });
    const outcome = await this.#runner.run(job, pace);
    const durationMs = steadyNow() - current.sinceMs;
    job.hadFirstRun = true;
    job.current = undefined;
    job.lastRun = { tookMs: durationMs, lostMs: current.lostMs };
    job.missed = outcome === 'failed' || outcome === 'breaker_open';
    if (outcome === 'closing') return;
    if (isOneOf(skipReasons, outcome)) {
      this.#skip(job, outcome);
    } else {
      job.blocked = undefined;
      job.retryAtMs = outcome === 'unsupported_route' ? state.age() + retryMissingAfterMs : undefined;
    }
    this.#results.runFinished({ job, outcome, startedAtMs, durationMs });
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

  #stepFinished(step: StepFinished): void {
    const { farms, version, isLicensedAgain } = this.#results.stepFinished(step);
    // Until their next run the backends would show what was before.
    for (const farm of farms) void this.#refresh.backendsOf(farm);
    if (version) this.#tryMissingRoutes(version);
    if (isLicensedAgain) this.#runLicensed();
    if (step.outcome === 'failed' && step.reason === 'unlicensed') this.#doubtLicence();
  }

  #tryMissingRoutes(version: { readonly from: string; readonly to: string | undefined }): void {
    this.#parts.log.info(version, 'version changed, missing routes are tried again');
    for (const job of this.#parts.jobs.values()) job.retryAtMs = undefined;
    this.#caller.forgetMissingRoutes();
  }

  /**
   * Reads the activation after a 402: it says whether everything is refused, or one module alone
   * (docs/api.md §8).
   */
  #doubtLicence(): void {
    const isRead = this.#parts.jobs.get(activation)?.running !== undefined;
    if (isRead || steadyNow() - this.#licenceDoubtedAtMs < betweenDoubtsMs) return;
    this.#licenceDoubtedAtMs = steadyNow();
    void this.run(activation);
  }

  /** Runs at once the collectors that waited for the licence. */
  #runLicensed(): void {
    for (const [name, { collector }] of this.#parts.jobs)
      if (name !== activation && !collector.makesNoCalls) void this.run(name);
  }

  /**
   * Runs at once the collectors that missed a run, and need not wait for their schedule as well.
   */
  #runMissed(): void {
    for (const [name, { missed, running }] of this.#parts.jobs) if (missed && !running) void this.run(name);
  }
}

function sharedParts(parts: AppliancePollerParts): SharedParts {
  const { name, collectors, polling, cron, now, random } = parts;
  const jobs = new Map(
    collectors.map((each, priority) => {
      const intervalMs = cron.intervalMs(each.schedule);
      const job = createJob(each, { appliance: name, priority, intervalMs, jitterRatio: polling.jitterRatio });
      return [job.collector.name, job];
    }),
  );
  const state = stateFrom(parts.state, jobs, now);
  return { ...parts, jobs, state, breaker: createBreaker({ now: state.age, random }) };
}
