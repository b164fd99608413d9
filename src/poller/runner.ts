import type { UnreadableField } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import {
  type CollectContext,
  type FarmCollector,
  type FarmFact,
  isFarmCollector,
  type ReadFrom,
} from '../collectors/collector.ts';
import { isOneOf, toError } from '../lib/check.ts';
import { steadyNow } from '../lib/time.ts';
import { type Caller, NotAskedError } from './caller.ts';
import { type SkipReason, skipReasons } from '../status/status.ts';
import type { CollectFarm, Job, Outcome, Round, Run, StepFinished } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { RunResults } from './run-results.ts';
import type { Origin } from '../status/reading.ts';

export interface RunnerParts extends SharedParts {
  readonly results: RunResults;
  readonly caller: Caller;
  readonly closing: AbortSignal;
  /** Returns why no further call for a job may leave. */
  readonly reasonToStop: (job: Job) => SkipReason | undefined;
  /** May throw if the reading cannot be used; then the step has failed. */
  readonly onStep: (step: StepFinished) => void;
}

/** The work of one step. */
interface Step {
  readonly origin: Origin;
  readonly work: (context: CollectContext) => Promise<unknown>;
}

/** Makes the turns of runs; the one place where their failures end. */
export class Runner {
  readonly #parts: RunnerParts;
  /** The newest list of farms as a set, created again for another list. */
  #listed: { readonly from: readonly FarmFact[] | undefined; readonly names: ReadonlySet<string> } = {
    from: undefined,
    names: new Set(),
  };

  /** Readings of farms that were refused after they were read. */
  readonly #refusedSince = new WeakSet<object>();

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /**
   * Makes the next turn of a run: all of it, or the beginning of a round over the farms, or one
   * farm of it. Returns the outcome of the run if it is over.
   */
  async turn(job: Job, run: Run): Promise<Outcome | undefined> {
    const { collector } = job;
    if (!isFarmCollector(collector)) {
      const origin = { collector: collector.name };
      return await this.#step(job, { origin, work: (context) => collector.collect(context) });
    }
    if (run.round) return await this.#nextFarm(job, run.round);
    const { outcome, collectFarm } = await this.#begin(job, collector);
    if (!collectFarm) return outcome;
    run.round = { collectFarm, farms: this.#farmsOf(job, collector), turns: 0, worst: 'ok' };
    return run.round.farms.length === 0 ? 'ok' : undefined;
  }

  /** Reads one farm at once. Does nothing for a farm that is not watched or not covered. */
  async farm(job: Job, collector: FarmCollector, name: string): Promise<void> {
    const farm = this.#parts.results.facts.farms?.find((each) => each.name === name);
    if (!farm || !collector.covers(farm)) return;
    const { collectFarm } = await this.#begin(job, collector);
    if (collectFarm) await this.#oneFarm(job, farm, collectFarm);
  }

  /**
   * Returns the farms of a round: those that were never read first, then those that have waited
   * longest, so that a round goes on where the one before was cut off.
   */
  #farmsOf({ readFarms }: Job, collector: FarmCollector): readonly FarmFact[] {
    const farms = (this.#parts.results.facts.farms ?? []).filter((farm) => collector.covers(farm));
    const present = new Map(farms.map((farm) => [farm.name, farm]));
    for (const name of readFarms) if (!present.has(name)) readFarms.delete(name);
    const waiting = [...readFarms].flatMap((name) => present.get(name) ?? []);
    return [...farms.filter(({ name }) => !readFarms.has(name)), ...waiting];
  }

  async #nextFarm(job: Job, round: Round): Promise<Outcome | undefined> {
    const farm = round.farms[round.turns];
    round.turns += 1;
    const isLast = round.turns >= round.farms.length;
    if (farm && this.#isListed(farm)) {
      const outcome = await this.#oneFarm(job, farm, round.collectFarm);
      if (outcome === 'closing') return outcome;
      // A failure before the round was cut off counts.
      if (isOneOf(skipReasons, outcome)) return round.worst === 'ok' ? outcome : round.worst;
      if (outcome !== 'ok') round.worst = 'failed';
      job.readFarms.delete(farm.name);
      job.readFarms.add(farm.name);
    }
    return isLast ? round.worst : undefined;
  }

  /** Begins to ask farm by farm; it failed if `collectFarm` is undefined. */
  async #begin(
    job: Job,
    collector: FarmCollector,
  ): Promise<{ outcome: Outcome; collectFarm: CollectFarm | undefined }> {
    let collectFarm: CollectFarm | undefined;
    const outcome = await this.#step(job, {
      origin: { collector: collector.name },
      work: async (context) => {
        collectFarm = await collector.begin(context);
        return undefined;
      },
    });
    return { outcome, collectFarm };
  }

  #oneFarm(job: Job, farm: FarmFact, collectFarm: CollectFarm): Promise<Outcome> {
    return this.#step(job, {
      origin: { collector: job.collector.name, farm: farm.name },
      work: async (context) => {
        try {
          const data = await collectFarm(farm, context);
          return this.#isListed(farm) ? data : undefined;
        } catch (error) {
          if (this.#mayBeDeleted(job, farm, error)) return undefined;
          throw error;
        }
      },
    });
  }

  /**
   * Returns true for the first refusal of a farm that was read before: it is being deleted, or the
   * next round meets the refusal again.
   */
  #mayBeDeleted({ collector }: Job, { name }: FarmFact, error: unknown): boolean {
    if (!(error instanceof ApplianceError) || !['bad_request', 'not_found'].includes(error.reason)) return false;
    const reading: unknown = this.#parts.results.newest<unknown>(collector, name);
    if (typeof reading !== 'object' || reading === null || this.#refusedSince.has(reading)) return false;
    this.#refusedSince.add(reading);
    return true;
  }

  /**
   * Returns false for a farm that was deleted in the course of a round: the refusal would count as
   * a failure.
   */
  #isListed({ name }: FarmFact): boolean {
    const { farms } = this.#parts.results.facts;
    if (this.#listed.from !== farms) this.#listed = { from: farms, names: new Set(farms?.map((farm) => farm.name)) };
    return this.#listed.names.has(name);
  }

  /**
   * Sets no deadline for the whole step: waits are bounded by the calls before them, and each call
   * by its own time limit, which is longer where the appliance itself waits for a proxy.
   */
  async #step(job: Job, { origin, work }: Step): Promise<Outcome> {
    const { caller, closing, reasonToStop, results, state, onStep } = this.#parts;
    const { age } = state;
    const startedAtMs = steadyNow();
    let askedAtMs: number | undefined;
    const unreadable: UnreadableField[] = [];
    const read = caller.reader({
      signal: closing,
      skipReason: () => reasonToStop(job),
      asked() {
        askedAtMs ??= age();
      },
      spent(seconds) {
        if (job.run) job.run.spentSeconds += seconds;
      },
      unreadable(found) {
        unreadable.push(...found);
      },
    });
    try {
      const data = await work(this.#contextOf(read));
      const reading = data === undefined ? undefined : { data, askedAtMs: askedAtMs ?? age() };
      onStep({ job, origin, outcome: 'ok', reading, unreadable });
      return 'ok';
    } catch (thrown) {
      if (closing.aborted) return 'closing';
      if (thrown instanceof NotAskedError) return thrown.reason;
      results.lost(steadyNow() - startedAtMs);
      return this.#fail(job, origin, toError(thrown));
    }
  }

  #contextOf(read: ReadFrom): CollectContext {
    const { results, closing: signal, watches, now, state, labels, vip } = this.#parts;
    return {
      read,
      signal,
      watches,
      now,
      age: state.age,
      labels,
      vip,
      newest: (collector, farm) => results.newest(collector, farm),
      // Facts may be newer after a call than before it.
      get facts() {
        return results.facts;
      },
    };
  }

  #fail(job: Job, origin: Origin, error: Error): Outcome {
    const { onStep } = this.#parts;
    if (error instanceof ApplianceError && error.routeMissing && job.collector.optional) {
      onStep({ job, origin, outcome: 'unsupported_route', error });
      return 'unsupported_route';
    }
    // A collector that throws on a reply which passed its schema met a reply that makes no sense.
    const reason = error instanceof ApplianceError ? error.reason : 'malformed';
    onStep({ job, origin, outcome: 'failed', reason, error });
    return 'failed';
  }
}
