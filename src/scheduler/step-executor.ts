import type { Farm } from '../appliance/farm.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { profilesIn } from '../appliance/safe-farm-name.ts';
import { type CollectContext, type PerFarmCollector, isPerFarmCollector, type Read } from '../collectors/collector.ts';
import { hasRecovered } from '../collectors/farm-states.ts';
import { farmsCollector } from '../collectors/farms.ts';
import { summaryCollector } from '../collectors/summary.ts';
import { isOneOf, toError } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import type { Priority } from './call-queue.ts';
import { type Calls, CallSkippedError, type StepCalls } from './calls.ts';
import { type SkipReason, skipReasons } from '../state/status.ts';
import { L4Farms } from './l4-farms.ts';
import {
  type ByFarm,
  chargeStep,
  failFarm,
  type FarmReader,
  forgetFarms,
  isDue,
  type Job,
  markOutdated,
  priorityOf,
  recordFarm,
  type RunOutcome,
  type Run,
  setFarms,
  type StepOutcome,
  takeFarm,
} from './job.ts';
import type { PollerServices } from './poller-services.ts';
import { ReadingTooLongError, type StateDelta } from '../state/appliance-state.ts';
import { readingKey } from '../state/reading.ts';

interface StepExecutorParts
  extends Pick<
    PollerServices,
    'state' | 'planner' | 'lateness' | 'failures' | 'counters' | 'watches' | 'labels' | 'vip' | 'inProbeSlot' | 'now'
  > {
  readonly calls: Calls;
  readonly closing: AbortSignal;
  /** Returns why no further call for a job may leave. */
  readonly reasonToStop: (job: Job) => SkipReason | undefined;
}

type Work = (context: CollectContext, calls: StepCalls) => Promise<unknown>;

interface StepTarget {
  readonly job: Job;
  readonly priority: Priority;
  readonly farm?: string;
  /** When an earlier step asked for a part of it: a reading made of two has the age of the older one. */
  readonly askedAtElapsedMs?: number | undefined;
}

/** Makes the steps of runs, and records their failures. */
export class StepExecutor {
  readonly #parts: StepExecutorParts;
  /** The list of farms when one of them was refused, by the origin of the reading. */
  readonly #refused = new Map<string, readonly Farm[] | undefined>();
  readonly #l4Farms: L4Farms;
  /** When farms were changed through the gateway. */
  readonly #changed = new Map<string, number>();

  constructor(parts: StepExecutorParts) {
    this.#parts = parts;
    this.#l4Farms = new L4Farms({
      elapsedNow: parts.state.elapsedNow,
      listed: () =>
        [parts.state.reading(farmsCollector), parts.state.reading(summaryCollector)].flatMap((list) => list ?? []),
    });
  }

  /** Called after farms were changed through the gateway, or one that is named. */
  recordFarmChange(farm: string | undefined): void {
    this.#l4Farms.forgetProfiles();
    for (const name of this.#changed.keys()) if (!this.#listed(name)) this.#changed.delete(name);
    if (farm !== undefined) this.#changed.set(farm, this.#parts.state.elapsedNow());
  }

  /** Returns true if a silent farm has recovered, and is to be asked for at once. */
  hasRecoveredFarm(): boolean {
    const { state } = this.#parts;
    const context = { facts: state.facts, changedAtElapsedMs: (farm: string) => this.#changed.get(farm) };
    return state.reading(farmsCollector)?.data.farms.some((farm) => hasRecovered(context, farm)) ?? false;
  }

  /**
   * Makes the next step of a run: all of it, or the beginning of one that asks farm by farm, or one
   * farm of it.
   */
  async makeStep(job: Job, run: Run): Promise<StepOutcome> {
    const { collector } = job;
    const priority = priorityOf(job);
    if (!isPerFarmCollector(collector))
      return await this.#attempt({ job, priority }, (context) => collector.collect(context));
    if (run.byFarm && priority === 'routine' && isCutOff(run, run.byFarm)) return { outcome: run.byFarm.worst };
    if (run.byFarm && !run.isOutdated) return await this.#nextFarm({ job, priority }, collector, run.byFarm);
    markOutdated(run, false);
    const { reader, ...step } = await this.#beginReader({ job, priority }, collector);
    if (!reader) return step;
    const { farms } = setFarms(run, { ...reader, ...this.#farmsOf(job, collector) });
    return { outcome: farms.length === 0 ? 'ok' : undefined };
  }

  /** Reads one farm at once. Does nothing for a farm that is not watched or not covered. */
  async readFarm(job: Job, collector: PerFarmCollector, name: string): Promise<StepOutcome | undefined> {
    const farm = this.#listed(name);
    if (!farm || !collector.covers(farm)) return undefined;
    const target = { job, priority: 'immediate' } as const;
    const { reader, ...step } = await this.#beginReader(target, collector);
    return reader ? await this.#collectFarm(target, farm, reader) : step;
  }

  /**
   * Returns the farms of a run: first those that were never read, then by their wait, so that a run
   * goes on where the one before was cut off. Farms whose states only a read tells go before all
   * others; of the others, each run reads a part.
   */
  #farmsOf(job: Job, collector: PerFarmCollector): Pick<ByFarm, 'farms' | 'urgentCount'> {
    const { readFarms } = job;
    const farms = (this.#parts.state.facts.farms ?? []).filter((farm) => collector.covers(farm));
    const present = new Map(farms.map((farm) => [farm.name, farm]));
    forgetFarms(job, (name) => !present.has(name));
    for (const key of this.#refused.keys())
      if (!this.#listed(key.slice(key.indexOf('\n') + 1))) this.#refused.delete(key);
    const waiting = [...readFarms.keys()].flatMap((name) => present.get(name) ?? []);
    const all = [...farms.filter(({ name }) => !readFarms.has(name)), ...waiting];
    const { needed, others } = this.#parts.planner.plan(job, all);
    return { farms: [...needed, ...others], urgentCount: needed.length };
  }

  async #nextFarm(target: StepTarget, collector: PerFarmCollector, byFarm: ByFarm): Promise<StepOutcome> {
    const farm = takeFarm(byFarm);
    const isLast = byFarm.nextIndex >= byFarm.farms.length;
    const outcomeAtEnd = (): RunOutcome | undefined => (isLast ? byFarm.worst : undefined);
    // It may have been deleted, or become silent, in the course of the run.
    const newest = farm && this.#listed(farm.name);
    if (!newest || !collector.covers(newest)) return { outcome: outcomeAtEnd() };
    const step = await this.#collectFarm(target, farm, byFarm);
    const { outcome } = step;
    if (outcome === 'closing') return step;
    // A failure before the run was cut off counts.
    if (isOneOf(skipReasons, outcome)) return { outcome: byFarm.worst === 'ok' ? outcome : byFarm.worst };
    if (outcome !== 'ok') failFarm(byFarm);
    return { ...step, outcome: outcomeAtEnd() };
  }

  /** Begins to ask farm by farm; it failed if `reader` is undefined. */
  async #beginReader(
    target: StepTarget,
    collector: PerFarmCollector,
  ): Promise<StepOutcome & { reader: FarmReader | undefined }> {
    let reader: FarmReader | undefined;
    const step = await this.#attempt(target, async (context, call) => {
      const collectFarm = await collector.begin(context);
      reader = { collectFarm, askedAtElapsedMs: call.askedAtElapsedMs };
    });
    return { ...step, reader };
  }

  async #collectFarm(
    target: StepTarget,
    farm: Farm,
    { collectFarm, askedAtElapsedMs }: FarmReader,
  ): Promise<StepOutcome> {
    const { job } = target;
    const step = await this.#attempt({ ...target, farm: farm.name, askedAtElapsedMs }, async (context) => {
      try {
        const data = await collectFarm(farm, context);
        this.#refused.delete(readingKey({ collector: job.collector.name, farm: farm.name }));
        return this.#listed(farm.name) && data;
      } catch (error) {
        if (this.#mayBeDeleted(job, farm, error) || (await isGone(context, farm, error))) return undefined;
        throw error;
      }
    });
    if (isOneOf(skipReasons, step.outcome)) return step;
    recordFarm(job, farm.name, this.#parts.lateness.lostMs);
    return step;
  }

  /**
   * Returns true for the refusal of a farm that no newer list has: it was deleted or renamed, or
   * the next run meets the refusal again.
   */
  #mayBeDeleted({ collector }: Job, { name }: Farm, error: unknown): boolean {
    if (!isRefusal(error)) return false;
    const { farms } = this.#parts.state.facts;
    const key = readingKey({ collector: collector.name, farm: name });
    if (this.#refused.has(key) && this.#refused.get(key) !== farms) return false;
    this.#refused.set(key, farms);
    return true;
  }

  /** Returns a farm of the newest list; undefined for one that was deleted in the course of a run. */
  #listed(name: string): Farm | undefined {
    return this.#parts.state.facts.farms?.find((farm) => farm.name === name);
  }

  /**
   * Sets no deadline for the whole step: waits are bounded by the calls before them, and each call
   * by its own time limit, which is longer where the appliance itself waits for a proxy.
   */
  async #attempt({ job, priority, farm, askedAtElapsedMs }: StepTarget, work: Work): Promise<StepOutcome> {
    const { calls, closing, reasonToStop, lateness, state } = this.#parts;
    const startSteadyMs = steadyNow();
    const stepCalls: StepCalls = {
      signal: closing,
      priority,
      skipReason: () => reasonToStop(job),
      askedAtElapsedMs,
      spentSeconds: 0,
      missing: new Map(),
      unreadable: [],
    };
    try {
      const data = await work(this.#contextOf(calls.readFor(stepCalls), job), stepCalls);
      const changes = this.#keep(job, farm, data, stepCalls);
      // An appliance that is deactivated may be activated at any moment, and have the routes then.
      if (state.facts.isActivated !== false) calls.rememberMissingRoutes(stepCalls);
      return { outcome: 'ok', ...(changes && { changes }) };
    } catch (thrown) {
      if (closing.aborted) return { outcome: 'closing' };
      if (thrown instanceof CallSkippedError) return { outcome: thrown.reason };
      lateness.recordLoss(steadyNow() - startSteadyMs);
      return this.#recordFailure(job, farm, toError(thrown));
    } finally {
      chargeStep(job, stepCalls.spentSeconds);
    }
  }

  /** Keeps what a step has read, if anything; throws for a reading that is too long. */
  #keep(
    job: Job,
    farm: string | undefined,
    data: unknown,
    { askedAtElapsedMs: callsAskedAtElapsedMs, unreadable }: StepCalls,
  ): StateDelta | undefined {
    const { state, lateness, failures, counters } = this.#parts;
    const { collector, maxStaleMs, run } = job;
    const isWhole = unreadable.length === 0;
    // After a run for some farms, the reading is as old as what it still has of the others.
    const before = run?.onlyFarms && state.reading(collector);
    const askedAtElapsedMs = before?.askedAtElapsedMs ?? callsAskedAtElapsedMs ?? state.elapsedNow();
    const reading = { collector, farm, data, askedAtElapsedMs, maxStaleMs, lifeMs: lateness.lifeMs(job), isWhole };
    const changes = data === undefined ? undefined : state.put(reading);
    const origin = { collector: collector.name, farm };
    failures.recordRecovery(origin);
    failures.recordUnreadable(origin, unreadable);
    for (const { endpoint, field, count } of unreadable) counters.countUnreadable(endpoint, field, count);
    return changes;
  }

  #recordFailure({ collector }: Job, farm: string | undefined, error: Error): StepOutcome {
    const { failures, counters } = this.#parts;
    if (error instanceof ApplianceError && error.routeMissing && collector.optional) {
      failures.logMissingRoute(collector.name, error);
      return { outcome: 'missing_route' };
    }
    // A collector throws on a reply that passed its schema and makes no sense.
    const hasReason = error instanceof ApplianceError || error instanceof ReadingTooLongError;
    const reason = hasReason ? error.reason : 'malformed';
    failures.recordFailure({ collector: collector.name, farm }, reason, error);
    counters.countError(collector.name, reason);
    return { outcome: 'failed', reason };
  }

  #contextOf(read: Read, { intervalMs, run }: Job): CollectContext {
    const { state, closing: signal, watches, now, labels, vip, inProbeSlot } = this.#parts;
    return {
      read,
      intervalMs,
      signal,
      watches,
      now,
      elapsedNow: state.elapsedNow,
      labels,
      probing: { settings: vip, inSlot: inProbeSlot, onlyFarms: run?.onlyFarms },
      fresh: (collector, farm) => state.reading(collector, farm)?.data,
      safeFarmName: (farm) => this.#l4Farms.safeFarmName(read, farm),
      changedAtElapsedMs: (farm) => this.#changed.get(farm),
      // Facts may be newer after a call than before it.
      get facts() {
        return state.facts;
      },
    };
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApplianceError && ['bad_request', 'not_found'].includes(error.reason);
}

/** Returns true for a refusal of a farm that the appliance does not have any more. */
async function isGone({ read }: CollectContext, { name }: Farm, error: unknown): Promise<boolean> {
  if (!isRefusal(error)) return false;
  try {
    return profilesIn(await read('readFarmsSummary', {}))?.has(name) === false;
  } catch (failure) {
    if (failure instanceof ApplianceError) return false;
    throw failure;
  }
}

/**
 * Returns true for a run that has read all farms it must, and at least one other, when the next one
 * is due: that goes on with the farms that waited longest.
 */
function isCutOff({ next }: Run, { nextIndex, urgentCount }: ByFarm): boolean {
  return nextIndex > urgentCount && isDue(next);
}
