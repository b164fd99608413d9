import { ApplianceError } from '../appliance/errors.ts';
import { profilesIn } from '../appliance/harmless.ts';
import {
  type CollectContext,
  type FarmCollector,
  type FarmFact,
  isFarmCollector,
  type ReadFrom,
} from '../collectors/collector.ts';
import { hasNews } from '../collectors/ask-farms.ts';
import { farms } from '../collectors/farms.ts';
import { summary } from '../collectors/summary.ts';
import { isOneOf, toError } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { type Calls, NotAskedError, type StepCalls } from './calls.ts';
import { type SkipReason, skipReasons } from '../state/status.ts';
import { L4Farms } from './l4-farms.ts';
import type { BegunFarms, ByFarm, Job, RunOutcome, Run, StepOutcome } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { StateChanges } from '../state/appliance-state.ts';
import { keyOf } from '../state/reading.ts';

export interface RunnerParts extends SharedParts {
  readonly calls: Calls;
  readonly closing: AbortSignal;
  /** Returns why no further call for a job may leave. */
  readonly reasonToStop: (job: Job) => SkipReason | undefined;
}

type Work = (context: CollectContext, calls: StepCalls) => Promise<unknown>;

/** What a step reads. */
interface StepPlace {
  readonly farm: string | undefined;
  /** When a part of it was asked for before this step. */
  readonly begunAtMs?: number | undefined;
}

/** Makes the steps of runs; the one place where their failures end. */
export class Runner {
  readonly #parts: RunnerParts;
  /** The newest list of farms when a farm in it was refused, by the origin of the reading. */
  readonly #refused = new Map<string, readonly FarmFact[] | undefined>();
  readonly #l4Farms: L4Farms;
  /** When farms were changed through the gateway, on the clock of ages. */
  readonly #changed = new Map<string, number>();

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#l4Farms = new L4Farms({
      age: parts.known.age,
      listed: () => [parts.known.reading(farms), parts.known.reading(summary)].flatMap((list) => list ?? []),
    });
  }

  /** Takes notice of a change that was made to farms, of one if it is named. */
  farmsChanged(farm: string | undefined): void {
    this.#l4Farms.changed();
    for (const name of this.#changed.keys()) if (!this.#isListed({ name })) this.#changed.delete(name);
    if (farm !== undefined) this.#changed.set(farm, this.#parts.known.age());
  }

  /** Returns true if a farm that is silent answers clients since it was asked, see hasNews. */
  hasNews(): boolean {
    const { known } = this.#parts;
    const context = { facts: known.facts, changedAtMs: (farm: string) => this.#changed.get(farm) };
    return known.reading(farms)?.data.farms.some((farm) => hasNews(context, farm)) ?? false;
  }

  /**
   * Makes the next step of a run: all of it, or the beginning of one that asks farm by farm, or one
   * farm of it.
   */
  async step(job: Job, run: Run): Promise<StepOutcome> {
    const { collector } = job;
    if (!isFarmCollector(collector))
      return await this.#attempt(job, { farm: undefined }, (context) => collector.collect(context));
    if (run.byFarm && !run.isOutdated) return await this.#nextFarm(job, run.byFarm);
    run.isOutdated = false;
    const { began, ...step } = await this.#begin(job, collector);
    if (!began) return step;
    run.byFarm = { ...began, farms: this.#farmsOf(job, collector), begun: 0, worst: run.byFarm?.worst ?? 'ok' };
    return { outcome: run.byFarm.farms.length === 0 ? 'ok' : undefined };
  }

  /** Reads one farm at once. Does nothing for a farm that is not watched or not covered. */
  async farm(job: Job, collector: FarmCollector, name: string): Promise<StepOutcome | undefined> {
    const farm = this.#parts.known.facts.farms?.find((each) => each.name === name);
    if (!farm || !collector.covers(farm)) return undefined;
    const { began, ...step } = await this.#begin(job, collector);
    return began ? await this.#oneFarm(job, farm, began) : step;
  }

  /**
   * Returns the farms of a run: those that were never read first, then those that have waited
   * longest, so that a run goes on where the one before was cut off.
   */
  #farmsOf({ readFarms }: Job, collector: FarmCollector): readonly FarmFact[] {
    const farms = (this.#parts.known.facts.farms ?? []).filter((farm) => collector.covers(farm));
    const present = new Map(farms.map((farm) => [farm.name, farm]));
    for (const name of readFarms) if (!present.has(name)) readFarms.delete(name);
    for (const key of this.#refused.keys())
      if (!this.#isListed({ name: key.slice(key.indexOf('\n') + 1) })) this.#refused.delete(key);
    const waiting = [...readFarms].flatMap((name) => present.get(name) ?? []);
    return [...farms.filter(({ name }) => !readFarms.has(name)), ...waiting];
  }

  async #nextFarm(job: Job, byFarm: ByFarm): Promise<StepOutcome> {
    const farm = byFarm.farms[byFarm.begun];
    byFarm.begun += 1;
    const isLast = byFarm.begun >= byFarm.farms.length;
    const isOver = (): RunOutcome | undefined => (isLast ? byFarm.worst : undefined);
    if (!farm || !this.#isListed(farm)) return { outcome: isOver() };
    const step = await this.#oneFarm(job, farm, byFarm);
    const { outcome } = step;
    if (outcome === 'closing') return step;
    // A failure before the run was cut off counts.
    if (isOneOf(skipReasons, outcome)) return { outcome: byFarm.worst === 'ok' ? outcome : byFarm.worst };
    if (outcome !== 'ok') byFarm.worst = 'failed';
    job.readFarms.delete(farm.name);
    job.readFarms.add(farm.name);
    return { ...step, outcome: isOver() };
  }

  /** Begins to ask farm by farm; it failed if `began` is undefined. */
  async #begin(job: Job, collector: FarmCollector): Promise<StepOutcome & { began: BegunFarms | undefined }> {
    let began: BegunFarms | undefined;
    const step = await this.#attempt(job, { farm: undefined }, async (context, call) => {
      const collectFarm = await collector.begin(context);
      began = { collectFarm, begunAtMs: call.askedAtMs };
    });
    return { ...step, began };
  }

  #oneFarm(job: Job, farm: FarmFact, { collectFarm, begunAtMs }: BegunFarms): Promise<StepOutcome> {
    return this.#attempt(job, { farm: farm.name, begunAtMs }, async (context) => {
      try {
        const data = await collectFarm(farm, context);
        this.#refused.delete(keyOf({ collector: job.collector.name, farm: farm.name }));
        return this.#isListed(farm) ? data : undefined;
      } catch (error) {
        if (this.#mayBeDeleted(job, farm, error) || (await isGone(context, farm, error))) return undefined;
        throw error;
      }
    });
  }

  /**
   * Returns true for the refusal of a farm that no newer list has: it was deleted or renamed, or
   * the next run meets the refusal again.
   */
  #mayBeDeleted({ collector }: Job, { name }: FarmFact, error: unknown): boolean {
    if (!(error instanceof ApplianceError) || !['bad_request', 'not_found'].includes(error.reason)) return false;
    const { farms } = this.#parts.known.facts;
    const key = keyOf({ collector: collector.name, farm: name });
    if (this.#refused.has(key) && this.#refused.get(key) !== farms) return false;
    this.#refused.set(key, farms);
    return true;
  }

  /**
   * Returns false for a farm that was deleted in the course of a run: the refusal would count as a
   * failure.
   */
  #isListed(farm: Pick<FarmFact, 'name'>): boolean {
    return this.#parts.known.facts.farms?.some(({ name }) => name === farm.name) ?? false;
  }

  /**
   * Sets no deadline for the whole step: waits are bounded by the calls before them, and each call
   * by its own time limit, which is longer where the appliance itself waits for a proxy.
   */
  async #attempt(job: Job, place: StepPlace, work: Work): Promise<StepOutcome> {
    const { calls, closing, reasonToStop, lateness, known } = this.#parts;
    const startedAtMs = steadyNow();
    const own: StepCalls = {
      signal: closing,
      skipReason: () => reasonToStop(job),
      askedAtMs: undefined,
      spentSeconds: 0,
      missing: new Map(),
      unreadable: [],
    };
    try {
      const data = await work(this.#contextOf(calls.reader(own), job), own);
      const changes = this.#keep(job, place, data, own);
      // A licence that is missing now may come at any moment, and its routes with it.
      if (known.facts.licensed !== false) calls.remember(own);
      return { outcome: 'ok', ...(changes && { changes }) };
    } catch (thrown) {
      if (closing.aborted) return { outcome: 'closing' };
      if (thrown instanceof NotAskedError) return { outcome: thrown.reason };
      lateness.lost(steadyNow() - startedAtMs);
      return this.#failed(job, place.farm, toError(thrown));
    } finally {
      if (job.run) job.run.spentSeconds += own.spentSeconds;
    }
  }

  /** Keeps what a step has read, if it is anything; throws for a reading that makes no sense. */
  #keep(
    job: Job,
    { farm, begunAtMs = Number.POSITIVE_INFINITY }: StepPlace,
    data: unknown,
    { askedAtMs, unreadable }: StepCalls,
  ): StateChanges | undefined {
    const { known, lateness, failures, counters } = this.#parts;
    const { collector, maxStaleMs } = job;
    // A reading made of two has the age of the older one.
    const takenAtMs = Math.min(askedAtMs ?? known.age(), begunAtMs);
    const isWhole = unreadable.length === 0;
    const reading = { collector, farm, data, takenAtMs, maxStaleMs, lifeMs: lateness.lifeMs(job), isWhole };
    const changes = data === undefined ? undefined : known.put(reading);
    const origin = { collector: collector.name, farm };
    failures.recovered(origin);
    failures.unreadable(origin, unreadable);
    for (const { endpoint, field, count } of unreadable) counters.unreadable(endpoint, field, count);
    return changes;
  }

  #failed({ collector }: Job, farm: string | undefined, error: Error): StepOutcome {
    const { failures, counters } = this.#parts;
    if (error instanceof ApplianceError && error.routeMissing && collector.optional) {
      failures.unsupported(collector.name, error);
      return { outcome: 'unsupported_route' };
    }
    // A collector that throws on a reply which passed its schema met a reply that makes no sense.
    const reason = error instanceof ApplianceError ? error.reason : 'malformed';
    failures.failed({ collector: collector.name, farm }, reason, error);
    counters.failed(collector.name, reason);
    return { outcome: 'failed', reason };
  }

  #contextOf(read: ReadFrom, { intervalMs, only }: Job): CollectContext {
    const { known, closing: signal, watches, now, labels, vip } = this.#parts;
    return {
      read,
      intervalMs,
      only,
      signal,
      watches,
      now,
      age: known.age,
      labels,
      vip,
      newest: (collector, farm) => known.reading(collector, farm)?.data,
      unlessL4: (farm) => this.#l4Farms.unlessL4(read, farm),
      changedAtMs: (farm) => this.#changed.get(farm),
      // Facts may be newer after a call than before it.
      get facts() {
        return known.facts;
      },
    };
  }
}

/** Returns true for a refusal of a farm that the appliance does not have any more. */
async function isGone({ read }: CollectContext, { name }: FarmFact, error: unknown): Promise<boolean> {
  if (!(error instanceof ApplianceError) || !['bad_request', 'not_found'].includes(error.reason)) return false;
  try {
    return profilesIn(await read('readFarmsSummary', {}))?.has(name) === false;
  } catch (failure) {
    if (failure instanceof ApplianceError) return false;
    throw failure;
  }
}
