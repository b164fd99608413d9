import { ApplianceError } from '../appliance/errors.ts';
import {
  type CollectContext,
  type FarmCollector,
  type FarmFact,
  isFarmCollector,
  type ReadFrom,
} from '../collectors/collector.ts';
import { farms } from '../collectors/farms.ts';
import { summary } from '../collectors/summary.ts';
import { isOneOf, toError } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { type Calls, NotAskedError, type StepCalls } from './calls.ts';
import { type SkipReason, skipReasons } from '../state/status.ts';
import { L4Farms } from './l4-farms.ts';
import type { ByFarm, CollectFarm, Found, Job, Outcome, Run } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { RunResults } from './run-results.ts';
import { keyOf, type Origin } from '../state/reading.ts';

export interface RunnerParts extends SharedParts {
  readonly results: RunResults;
  readonly calls: Calls;
  readonly closing: AbortSignal;
  /** Returns why no further call for a job may leave. */
  readonly reasonToStop: (job: Job) => SkipReason | undefined;
  /** May throw if the reading cannot be used; then the step has failed. */
  readonly onFound: (job: Job, origin: Origin, found: Found) => void;
  /** Returns what a failure means for the run. */
  readonly onFailed: (job: Job, origin: Origin, error: Error) => Outcome;
}

type Work = (context: CollectContext) => Promise<unknown>;

/** Makes the steps of runs; the one place where their failures end. */
export class Runner {
  readonly #parts: RunnerParts;
  /** The newest list of farms when a farm in it was refused, by the origin of the reading. */
  readonly #refused = new Map<string, readonly FarmFact[] | undefined>();
  readonly #l4Farms: L4Farms;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#l4Farms = new L4Farms({
      asksDaemon: parts.polling.askL4Daemon === true,
      age: parts.state.age,
      listed: () => [parts.results.stored(farms), parts.results.stored(summary)].flatMap((list) => list ?? []),
    });
  }

  /** Takes notice of a change that was made to farms. */
  farmsChanged(): void {
    this.#l4Farms.changed();
  }

  /**
   * Makes the next step of a run: all of it, or the beginning of one that asks farm by farm, or one
   * farm of it. Returns the outcome of the run if it is over.
   */
  async step(job: Job, run: Run): Promise<Outcome | undefined> {
    const { collector } = job;
    if (!isFarmCollector(collector)) {
      return await this.#attempt(job, { collector: collector.name }, (context) => collector.collect(context));
    }
    if (run.byFarm) return await this.#nextFarm(job, run.byFarm);
    const { outcome, collectFarm } = await this.#begin(job, collector);
    if (!collectFarm) return outcome;
    run.byFarm = { collectFarm, farms: this.#farmsOf(job, collector), begun: 0, worst: 'ok' };
    return run.byFarm.farms.length === 0 ? 'ok' : undefined;
  }

  /** Reads one farm at once. Does nothing for a farm that is not watched or not covered. */
  async farm(job: Job, collector: FarmCollector, name: string): Promise<void> {
    const farm = this.#parts.results.facts.farms?.find((each) => each.name === name);
    if (!farm || !collector.covers(farm)) return;
    const { collectFarm } = await this.#begin(job, collector);
    if (collectFarm) await this.#oneFarm(job, farm, collectFarm);
  }

  /**
   * Returns the farms of a run: those that were never read first, then those that have waited
   * longest, so that a run goes on where the one before was cut off.
   */
  #farmsOf({ readFarms }: Job, collector: FarmCollector): readonly FarmFact[] {
    const farms = (this.#parts.results.facts.farms ?? []).filter((farm) => collector.covers(farm));
    const present = new Map(farms.map((farm) => [farm.name, farm]));
    for (const name of readFarms) if (!present.has(name)) readFarms.delete(name);
    for (const key of this.#refused.keys())
      if (!this.#isListed({ name: key.slice(key.indexOf('\n') + 1) })) this.#refused.delete(key);
    const waiting = [...readFarms].flatMap((name) => present.get(name) ?? []);
    return [...farms.filter(({ name }) => !readFarms.has(name)), ...waiting];
  }

  async #nextFarm(job: Job, byFarm: ByFarm): Promise<Outcome | undefined> {
    const farm = byFarm.farms[byFarm.begun];
    byFarm.begun += 1;
    const isLast = byFarm.begun >= byFarm.farms.length;
    if (farm && this.#isListed(farm)) {
      const outcome = await this.#oneFarm(job, farm, byFarm.collectFarm);
      if (outcome === 'closing') return outcome;
      // A failure before the run was cut off counts.
      if (isOneOf(skipReasons, outcome)) return byFarm.worst === 'ok' ? outcome : byFarm.worst;
      if (outcome !== 'ok') byFarm.worst = 'failed';
      job.readFarms.delete(farm.name);
      job.readFarms.add(farm.name);
    }
    return isLast ? byFarm.worst : undefined;
  }

  /** Begins to ask farm by farm; it failed if `collectFarm` is undefined. */
  async #begin(
    job: Job,
    collector: FarmCollector,
  ): Promise<{ outcome: Outcome; collectFarm: CollectFarm | undefined }> {
    let collectFarm: CollectFarm | undefined;
    const outcome = await this.#attempt(job, { collector: collector.name }, async (context) => {
      collectFarm = await collector.begin(context);
    });
    return { outcome, collectFarm };
  }

  #oneFarm(job: Job, farm: FarmFact, collectFarm: CollectFarm): Promise<Outcome> {
    return this.#attempt(job, { collector: job.collector.name, farm: farm.name }, async (context) => {
      try {
        const data = await collectFarm(farm, context);
        this.#refused.delete(keyOf({ collector: job.collector.name, farm: farm.name }));
        return this.#isListed(farm) ? data : undefined;
      } catch (error) {
        if (this.#mayBeDeleted(job, farm, error)) return undefined;
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
    const { farms } = this.#parts.results.facts;
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
    return this.#parts.results.facts.farms?.some(({ name }) => name === farm.name) ?? false;
  }

  /**
   * Sets no deadline for the whole step: waits are bounded by the calls before them, and each call
   * by its own time limit, which is longer where the appliance itself waits for a proxy.
   */
  async #attempt(job: Job, origin: Origin, work: Work): Promise<Outcome> {
    const { calls, closing, reasonToStop, lateness, state, results, onFound, onFailed } = this.#parts;
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
      const data = await work(this.#contextOf(calls.reader(own), job));
      onFound(job, origin, { data, askedAtMs: own.askedAtMs ?? state.age(), unreadable: own.unreadable });
      // A licence that is missing now may come at any moment, and its routes with it.
      if (results.facts.licensed !== false) calls.remember(own);
      return 'ok';
    } catch (thrown) {
      if (closing.aborted) return 'closing';
      if (thrown instanceof NotAskedError) return thrown.reason;
      lateness.lost(steadyNow() - startedAtMs);
      return onFailed(job, origin, toError(thrown));
    } finally {
      if (job.run) job.run.spentSeconds += own.spentSeconds;
    }
  }

  #contextOf(read: ReadFrom, { intervalMs, only }: Job): CollectContext {
    const { results, closing: signal, watches, now, state, labels, vip } = this.#parts;
    return {
      read,
      intervalMs,
      only,
      signal,
      watches,
      now,
      age: state.age,
      labels,
      vip,
      newest: (collector, farm) => results.newest(collector, farm),
      unlessL4: (farm) => this.#l4Farms.unlessL4(read, farm),
      askL4Daemon: (key, farm) => this.#l4Farms.ask(read, key, farm),
      // Facts may be newer after a call than before it.
      get facts() {
        return results.facts;
      },
    };
  }
}
