import { activationCollector } from '../collectors/activation.ts';
import { type Collector, isPerFarmCollector } from '../collectors/collector.ts';
import { isOneOf } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { type SkipReason, skipReasons } from '../state/status.ts';
import { type Calls, missingForMs } from './calls.ts';
import {
  beginRun,
  type Due,
  endRun,
  isFirst,
  type Job,
  makeUrgent,
  maxRatioOfRoutine,
  planNext,
  recordRun,
  type Run,
  type RunOutcome,
  skipRun,
  waitForSchedule,
} from './job.ts';
import type { PollerServices } from './poller-services.ts';
import type { PollerStatus } from './poller-status.ts';
import { nextDue } from './schedule.ts';

/** Reasons for which a collector does not run until something else has changed. */
const lastingReasons = ['breaker_open', 'unlicensed', 'farms_unknown'] as const satisfies readonly SkipReason[];
/** The part of the budget that the first collector may take: the others run too. */
const ratioOfFirst = 0.5;
/** The same while it has only read a part, or would be read less often than `max_stale` needs. */
const maxRatioOfFirst = 0.9;
/** The time between two reads of the activation while the appliance is deactivated. */
const whileDeactivatedMs = 60_000;

interface RunLifecycleParts
  extends Pick<
    PollerServices,
    'jobs' | 'state' | 'readingPublisher' | 'counters' | 'lateness' | 'polling' | 'cron' | 'now' | 'random'
  > {
  readonly calls: Calls;
  readonly pollerStatus: PollerStatus;
}

/** Begins the runs of jobs, or says why not, and ends them. */
export class RunLifecycle {
  readonly #parts: RunLifecycleParts;

  constructor(parts: RunLifecycleParts) {
    this.#parts = parts;
  }

  /** Begins a run, and plans the next one; undefined if there is a reason to skip this one. */
  begin(job: Job): Run | undefined {
    const { cron, lateness, now, polling, random } = this.#parts;
    const startedAtSteadyMs = steadyNow();
    const next = nextDue(job, cron, { jitterRatio: polling.jitterRatio, random });
    planNext(job, next, startedAtSteadyMs, lateness.lostMs);
    for (let times = Math.floor(job.late.ms / job.intervalMs); times > 0; times -= 1) this.#skip(job, 'stretched');
    const reason = this.reasonToSkip(job);
    if (reason) {
      waitForSchedule(job, this.#dueAfterRun(job, next));
      this.#skip(job, reason);
      this.#parts.pollerStatus.publish();
      return undefined;
    }
    return beginRun(job, { startedAtMs: now(), startedAtSteadyMs, next, onlyFarms: undefined });
  }

  /**
   * Begins a run for some farms beside the schedule: the next one of all is due as before. Undefined
   * if there is a reason to skip it.
   */
  beginFor(job: Job, onlyFarms: ReadonlySet<string>): Run | undefined {
    if (this.reasonToSkip(job)) return undefined;
    const { due: next } = job;
    makeUrgent(job);
    return beginRun(job, { startedAtMs: this.#parts.now(), startedAtSteadyMs: steadyNow(), next, onlyFarms });
  }

  /** Returns why a job is not to run now; undefined if it is admitted. */
  reasonToSkip(job: Job): SkipReason | undefined {
    const { farms } = this.#parts.state.facts;
    if (job.collector.makesNoCalls) return farms ? undefined : 'farms_unknown';
    if (job.retryAtElapsedMs !== undefined && this.#parts.state.elapsedNow() < job.retryAtElapsedMs)
      return 'unsupported';
    if (this.needsActivation(job)) return 'unlicensed';
    if (!this.#parts.calls.wouldAdmit) return 'breaker_open';
    if (isPerFarmCollector(job.collector) && !farms) return 'farms_unknown';
    return undefined;
  }

  /**
   * Returns when a job is due after its run: by its schedule, but not before `earliestSteadyMs`. The
   * activation of a deactivated appliance is due soon.
   */
  #dueAfterRun(job: Job, next: Due, earliestSteadyMs = 0): Due {
    const isAwaited = this.#parts.state.facts.isActivated === false && job.collector.name === activationCollector.name;
    const soonSteadyMs = steadyNow() + whileDeactivatedMs;
    if (isAwaited && soonSteadyMs < next.steadyMs) return { steadyMs: soonSteadyMs };
    return earliestSteadyMs > next.steadyMs ? { steadyMs: earliestSteadyMs } : next;
  }

  /**
   * Returns the least time from the beginning of a run to the next one, in which the other jobs get
   * their part of the budget. A run that asks farm by farm ends with its interval anyway.
   */
  #leastIntervalMs(job: Job, run: Run): number {
    const { maxBusyRatio, routineBusyRatio } = this.#parts.polling;
    const spentMs = job.spentSeconds * 1_000;
    if (isFirst(job)) return this.#leastIntervalOfFirstMs(job, run, spentMs / maxBusyRatio);
    return isPerFarmCollector(job.collector) ? 0 : spentMs / (routineBusyRatio * maxRatioOfRoutine);
  }

  #leastIntervalOfFirstMs({ collector, maxStaleMs }: Job, { startedAtSteadyMs }: Run, budgetMs: number): number {
    const leastMs = budgetMs / maxRatioOfFirst;
    if (this.#isPartial(collector)) return leastMs;
    const fairMs = Math.max(budgetMs, steadyNow() - startedAtSteadyMs) / ratioOfFirst;
    return Math.max(leastMs, Math.min(fairMs, maxStaleMs / 2));
  }

  #isPartial(collector: Collector): boolean {
    const reading = this.#parts.state.reading(collector);
    return reading !== undefined && !isPerFarmCollector(collector) && collector.isPartial?.(reading.data) === true;
  }

  /** Returns true if the appliance would refuse the calls of a job, because it is deactivated. */
  needsActivation({ collector }: Job): boolean {
    const { name } = activationCollector;
    return this.#parts.state.facts.isActivated === false && collector.name !== name && this.#parts.jobs.has(name);
  }

  end(job: Job, run: Run, outcome: RunOutcome): void {
    const { state, readingPublisher } = this.#parts;
    endRun(job, outcome, this.#dueAfterRun(job, run.next, run.startedAtSteadyMs + this.#leastIntervalMs(job, run)));
    if (outcome !== 'closing') {
      if (outcome !== 'ok' && !state.reading(job.collector)) readingPublisher.showWithoutReading(job.collector);
      if (isOneOf(skipReasons, outcome)) this.#skip(job, outcome);
      else this.#recordResult(job, run, outcome);
      this.#parts.pollerStatus.publish();
    }
    run.over.resolve();
  }

  #recordResult(
    job: Job,
    { startedAtMs, startedAtSteadyMs, onlyFarms }: Run,
    outcome: 'ok' | 'failed' | 'missing_route',
  ): void {
    // A collector without its route neither succeeds nor fails.
    if (outcome === 'missing_route') return recordRun(job, {}, this.#parts.state.elapsedNow() + missingForMs);
    const ok = outcome === 'ok';
    const durationMs = steadyNow() - startedAtSteadyMs;
    this.#parts.counters.countRun(job.collector.name, ok);
    // One for some farms says nothing of the others.
    if (onlyFarms) return;
    const success = ok && { lastSuccessMs: startedAtMs + durationMs };
    recordRun(job, { ...job.last, ok, durationMs, lastAttemptMs: startedAtMs, ...success }, undefined);
  }

  #skip(job: Job, reason: SkipReason): void {
    skipRun(job, reason, isOneOf(lastingReasons, reason) ? this.#parts.now() : undefined);
    this.#parts.counters.countSkip(job.collector.name, reason);
  }
}
