// Polls one appliance. A tick of the schedule becomes samples in this order:
//
// schedule.ts           computes when a job is due
// due-list.ts           the one loop: takes the job that goes first
// run-lifecycle.ts      begins its run, or says why it is skipped
// step-executor.ts      makes the next step: calls the collector, for one farm or for all
// calls.ts              sends each call when call-queue.ts and the circuit breaker admit it
// ../state/             keeps the reading (appliance-state.ts), and notifies its listeners:
// reading-publisher.ts  writes the samples into the store of `/metrics`
// run-lifecycle.ts      ends the run; its job waits for the next tick
// poller-status.ts      publishes the poller's own metrics
//
// job.ts alone changes a job and its run. refresh.ts reads out of schedule what a change has made out
// of date. Steps of several jobs run at the same time, up to `max_concurrent_per_appliance`; those of
// one run follow each other.

import type { Area } from '../appliance/api/table.ts';
import type { CallReport } from '../appliance/client.ts';
import { isUnanswered } from '../appliance/errors.ts';
import { activationCollector } from '../collectors/activation.ts';
import { applianceCollector } from '../collectors/appliance.ts';
import { backendsCollector } from '../collectors/backends.ts';
import { certificatesCollector } from '../collectors/certificates.ts';
import { type Collector, isPerFarmCollector } from '../collectors/collector.ts';
import { farmsCollector } from '../collectors/farms.ts';
import { summaryCollector } from '../collectors/summary.ts';
import { steadyNow } from '../lib/time.ts';
import { Calls } from './calls.ts';
import type { ApplianceStatus } from '../state/status.ts';
import type { ApplianceState } from '../state/appliance-state.ts';
import type { Counters } from './counters.ts';
import { DueList } from './due-list.ts';
import {
  type Job,
  type Run,
  markOutdated,
  recordEviction,
  spreadOfInterval,
  retryRoute,
  type StepOutcome,
  waitsForRoutineBudget,
  waitUntil,
  makeUrgent,
} from './job.ts';
import {
  type AppliancePollerParts,
  type PollerHandover,
  type PollerServices,
  createPollerServices,
} from './poller-services.ts';
import { Refresh } from './refresh.ts';
import { PollerStatus } from './poller-status.ts';
import { StepExecutor } from './step-executor.ts';
import { RunLifecycle } from './run-lifecycle.ts';

/** The collectors whose readings people wait for after a start. */
const firstGroup: readonly string[] = [
  farmsCollector,
  activationCollector,
  summaryCollector,
  certificatesCollector,
  backendsCollector,
].map(({ name }) => name);
/** Areas whose changes may bring routes that were missing. */
const areasOfRoutes: readonly Area[] = ['activation', 'system'];
const betweenRechecksMs = 60_000;
/**
 * A jump of the elapsed clock against the steady clock. A shorter one is left to the schedule: it
 * removes only what is due within seconds.
 */
const jumpMs = 10_000;

/**
 * Polls one appliance. While it is deactivated it refuses everything, and only its activation is
 * read, to find out when that is over.
 */
export class AppliancePoller {
  readonly name: string;
  readonly counters: Counters;
  readonly state: ApplianceState;
  readonly #services: PollerServices;
  readonly #pollerStatus: PollerStatus;
  readonly #closing = new AbortController();
  readonly #calls: Calls;
  readonly #lifecycle: RunLifecycle;
  readonly #executor: StepExecutor;
  readonly #refresh: Refresh;
  readonly #due: DueList;
  /** How far the elapsed clock was ahead of the steady clock at the last look. */
  #aheadMs: number;
  #jumpedAtElapsedMs = Number.NEGATIVE_INFINITY;
  /** When collectors were rechecked, by name. */
  readonly #recheckedAtSteadyMs = new Map<string, number>();

  constructor(parts: AppliancePollerParts) {
    this.name = parts.name;
    this.counters = parts.counters;
    const services = createPollerServices(parts);
    const { connect, breaker, log, jobs, polling, state } = services;
    this.#services = services;
    this.state = state;
    this.#pollerStatus = new PollerStatus(services);
    this.#aheadMs = state.elapsedNow() - steadyNow();
    this.#calls = new Calls({
      connect,
      breaker,
      log,
      onCall: (report) => this.#recordCall(report),
      onRecovered: () => this.#runMissed(),
      polling,
      idleMs: Math.min(...[...jobs.values()].map(({ intervalMs }) => intervalMs)) / 2,
      mayPing: () => state.facts.isActivated !== false,
      notBefore: parts.handover?.notBefore,
      elapsedNow: state.elapsedNow,
    });
    this.#lifecycle = new RunLifecycle({ ...services, calls: this.#calls, pollerStatus: this.#pollerStatus });
    this.#executor = new StepExecutor({
      ...services,
      calls: this.#calls,
      closing: this.#closing.signal,
      reasonToStop: (job) => (this.#lifecycle.needsActivation(job) ? 'unlicensed' : undefined),
    });
    this.#refresh = new Refresh({
      jobs,
      run: ({ collector }, onlyFarms) => this.run(collector.name, onlyFarms),
      beginAgain: (job) => this.#beginAgain(job),
      runFarm: (job, farm) => this.#runFarm(job, farm),
    });
    this.#due = new DueList({
      jobs: [...jobs.values()],
      maxSteps: polling.maxConcurrentPerAppliance,
      notBeforeSteadyMs: (job) => this.#notBeforeSteadyMs(job),
      mayStart: (job) => !this.#waitsForFarms(job),
      step: (job) => this.#step(job),
    });
  }

  /** Returns true after each enabled collector of the first group ran or was skipped. */
  get hadFirstRuns(): boolean {
    return [...this.#services.jobs].every(([name, { hadFirstRun }]) => hadFirstRun || !firstGroup.includes(name));
  }

  /** Returns the state for the poller that replaces this one, after this one is closed. */
  get handover(): PollerHandover {
    const { state, availability, jobs, lateness, breaker } = this.#services;
    const { notBefore } = this.#calls;
    return { state, availability: availability.state, jobs, lateness, notBefore, failure: breaker.reason };
  }

  /** Publishes the inherited counters before anything was read. */
  publish(): void {
    this.#pollerStatus.publish();
  }

  /**
   * Runs every collector once, then by its schedule: the first group, then the others, and last
   * those that make no calls.
   */
  start(): void {
    // A reload may close it while it waits for its start.
    if (this.#isClosed) return;
    this.#makeDue([...this.#services.jobs.values()].toSorted(inStartOrder));
  }

  /**
   * Runs a collector if it is admitted, for some farms only if they are named; resolves when the run
   * is over, whatever its outcome.
   */
  run(collector: string, onlyFarms?: ReadonlySet<string>): Promise<void> {
    const job = this.#services.jobs.get(collector);
    if (!job || this.#isClosed) return Promise.resolve();
    if (job.run) return job.run.over.promise;
    const run = onlyFarms && job.hadFirstRun ? this.#lifecycle.beginFor(job, onlyFarms) : this.#beginAtOnce(job);
    if (!run) return Promise.resolve();
    this.#due.wake();
    return run.over.promise;
  }

  #beginAtOnce(job: Job): Run | undefined {
    makeUrgent(job);
    return this.#lifecycle.begin(job);
  }

  /**
   * Reads at once what shows an area of the API that was changed, of one farm if it is named. A
   * reading under way may be older than the change, and is followed by another.
   */
  refresh(area: Area, farm: string | undefined): Promise<void> {
    this.#executor.recordFarmChange(farm);
    if (areasOfRoutes.includes(area)) this.#tryMissingRoutes();
    return this.#refresh.readArea(area, farm);
  }

  /**
   * Evicts what is stale and refreshes `zlb_up`: afterwards the store has what is true now. Reads
   * again at once what a jump of the clock made too old.
   */
  expire(): void {
    const { jobs, state, availability, lateness, planner } = this.#services;
    this.#noticeJump();
    const hasAnswered = availability.hasAnswered(state.elapsedNow()) === true;
    const expired = state.expire((reading) =>
      lateness.maxAgeMs(reading, jobs.get(reading.collector), {
        hasAnswered,
        areStatesKnown: () => planner.areStatesKnown(reading),
      }),
    );
    // However late its next step, it runs as soon as the breaker closes again.
    for (const { collector } of expired) {
      const job = jobs.get(collector);
      if (job) recordEviction(job);
    }
    if (expired.length > 0) this.#pollerStatus.publish();
    else this.#pollerStatus.publishIfChanged();
    const lost = new Set(
      expired.flatMap(({ collector, askedAtElapsedMs }) =>
        askedAtElapsedMs < this.#jumpedAtElapsedMs ? collector : [],
      ),
    );
    if (lost.size > 0) this.#readLost([...jobs.values()].filter(({ collector }) => lost.has(collector.name)));
  }

  status(): ApplianceStatus {
    this.expire();
    return this.#pollerStatus.status();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#due.close();
    for (const { run } of this.#services.jobs.values()) run?.over.resolve();
    await this.#calls.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Returns the steady time from which the budgets allow the next step of a job. */
  #notBeforeSteadyMs(job: Job): number {
    const { urgentSteadyMs, routineSteadyMs } = this.#calls.notBefore;
    if (!waitsForRoutineBudget(job)) return urgentSteadyMs;
    // At that time its run ends.
    const endSteadyMs = job.run?.byFarm ? job.run.next.steadyMs : Number.POSITIVE_INFINITY;
    return Math.max(urgentSteadyMs, Math.min(routineSteadyMs, endSteadyMs));
  }

  #makeDue(jobs: readonly Job[]): void {
    // A run under way goes on as it is.
    for (const [index, job] of jobs.entries()) if (!job.run) makeUrgent(job, index);
    this.#due.wake();
  }

  /** Runs jobs at once, and again after a run under way that had read a part before. */
  #readLost(jobs: readonly Job[]): void {
    for (const job of jobs) {
      if (!job.run) continue;
      makeUrgent(job);
      void job.run.over.promise.then(() => {
        if (this.#services.state.staleCollectors.has(job.collector.name)) this.#makeDue([job]);
      });
    }
    this.#makeDue(jobs.toSorted(inStartOrder));
  }

  /** Returns true for what asks or probes each farm while the first list is on its way. */
  #waitsForFarms({ collector }: Job): boolean {
    const isNeeded =
      (isPerFarmCollector(collector) || collector.makesNoCalls === true) && !this.#services.state.facts.farms;
    return isNeeded && [farmsCollector, summaryCollector].some(({ name }) => this.#services.jobs.get(name)?.run);
  }

  /** Begins a run, or goes on with the one under way. */
  async #step(job: Job): Promise<void> {
    const run = job.run ?? this.#lifecycle.begin(job);
    if (!run) return;
    const stepSteadyMs = steadyNow();
    const step = await this.#executor.makeStep(job, run);
    this.#followUp(step);
    // The list of farms finds a proxy that hangs, before other collectors leave a process each at it.
    if (job.collector.name !== farmsCollector.name && isUnanswered(step.reason)) this.#recheck(farmsCollector);
    const isOver = step.outcome !== undefined && !(run.isOutdated && step.outcome === 'ok');
    if (isOver) {
      this.#lifecycle.end(job, run, step.outcome);
      if (job.collector.makesNoCalls && this.#executor.hasRecoveredFarm())
        void this.#refresh.rerun(farmsCollector.name);
      return;
    }
    if (job.isUrgent || !run.byFarm) return;
    // A step is never due before the last one, so that a job that is behind does not push away
    // others.
    const { nextIndex, farms } = run.byFarm;
    const spreadMs = job.intervalMs * (spreadOfInterval - this.#services.polling.jitterRatio);
    waitUntil(job, { steadyMs: Math.max(stepSteadyMs, run.startedAtSteadyMs + (nextIndex * spreadMs) / farms.length) });
  }

  async #beginAgain(job: Job): Promise<void> {
    const { run } = job;
    if (!run) return;
    markOutdated(run, true);
    makeUrgent(job);
    this.#due.wake();
    await run.over.promise;
  }

  async #runFarm(job: Job, farm: string): Promise<void> {
    const { collector } = job;
    if (!isPerFarmCollector(collector) || this.#lifecycle.reasonToSkip(job) || this.#isClosed) return;
    const step = await this.#executor.readFarm(job, collector, farm);
    if (step) this.#followUp(step);
    this.#pollerStatus.publish();
  }

  #recordCall(report: CallReport): void {
    const { availability, state, lateness } = this.#services;
    if (report.authenticated) lateness.recordResponse();
    availability.recordCall(report, state.elapsedNow());
    this.counters.countCall(report);
  }

  /** Reads at once what a step has shown to be out of date. */
  #followUp({ changes, reason }: StepOutcome): void {
    this.#pollerStatus.invalidate();
    // It says whether everything is refused, or one module alone (docs/api.md §8).
    if (reason === 'unlicensed') this.#recheck(activationCollector);
    if (!changes) return;
    const { changedFarms, newFarms, version, isReactivated } = changes;
    // Until their next run, backends and probes would show what was before.
    for (const farm of changedFarms) void this.#refresh.readFarm(farm, newFarms.includes(farm));
    if (version) {
      this.#services.log.info(version, 'version changed, missing routes are tried again');
      this.#tryMissingRoutes();
    }
    if (isReactivated) this.#runReactivated();
  }

  /** Notices a jump of the elapsed clock: the machine slept, or its clock was set. */
  #noticeJump(): void {
    const nowElapsedMs = this.state.elapsedNow();
    const aheadMs = nowElapsedMs - steadyNow();
    const byMs = aheadMs - this.#aheadMs;
    this.#aheadMs = aheadMs;
    if (byMs < jumpMs) return;
    this.#jumpedAtElapsedMs = nowElapsedMs;
    const seconds = Math.round(byMs / 1_000);
    this.#services.log.info({ seconds }, 'the clock jumped ahead, what is too old now is read again');
  }

  #tryMissingRoutes(): void {
    for (const job of this.#services.jobs.values()) retryRoute(job);
    this.#calls.forgetMissingRoutes();
  }

  /** Runs a collector at once, at most once a minute, to find the cause of a failure. */
  #recheck({ name }: Collector): void {
    if (steadyNow() - (this.#recheckedAtSteadyMs.get(name) ?? Number.NEGATIVE_INFINITY) < betweenRechecksMs) return;
    this.#recheckedAtSteadyMs.set(name, steadyNow());
    void this.#refresh.rerun(name);
  }

  #runReactivated(): void {
    this.#tryMissingRoutes();
    this.#makeDue(
      [...this.#services.jobs.values()].filter(
        ({ collector }) => collector.name !== activationCollector.name && !collector.makesNoCalls,
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
    this.#makeDue(
      [...this.#services.jobs.values()].filter(
        ({ hasMissedRun, collector }) => hasMissedRun || collector.name === applianceCollector.name,
      ),
    );
  }
}

/** Orders jobs: the first group, then the others, and last those that make no calls. */
function inStartOrder(one: Job, other: Job): number {
  const groupOf = ({ collector }: Job): number =>
    collector.makesNoCalls ? 2 : firstGroup.includes(collector.name) ? 0 : 1;
  return groupOf(one) - groupOf(other);
}
