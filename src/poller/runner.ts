import type { UnreadableField } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import {
  type ApplianceCollector,
  type CollectContext,
  type FarmCollector,
  type FarmFact,
  isFarmCollector,
  type ReadFrom,
} from '../collectors/collector.ts';
import { isOneOf, toError } from '../lib/check.ts';
import { sleep, steadyNow } from '../lib/time.ts';
import { type Caller, NotAskedError } from './caller.ts';
import { type SkipReason, skipReasons } from './counters.ts';
import type { Job, Outcome, Pace, StepFinished } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { RunResults } from './run-results.ts';
import type { Origin } from './reading.ts';

export interface RunnerParts extends SharedParts {
  readonly results: RunResults;
  readonly caller: Caller;
  readonly closing: AbortSignal;
  /** Returns why no further call for a job may leave. */
  readonly reasonToStop: (job: Job) => SkipReason | undefined;
  /** May throw if the reading cannot be used; then the step has failed. */
  readonly onStep: (step: StepFinished) => void;
}

/** The call that begins a round; it failed if `collectFarm` is undefined. */
interface Beginning {
  readonly outcome: Outcome;
  readonly collectFarm: CollectFarm | undefined;
}

type CollectFarm = Awaited<ReturnType<FarmCollector['begin']>>;

/** The work of one step, and the longest time that it can wait behind others. */
interface Step {
  readonly origin: Origin;
  readonly maxWaitMs: number;
  readonly work: (context: CollectContext) => Promise<unknown>;
}

/**
 * Returns how long a call can wait that is wanted at once: 0 ms, 1 ms and so on, so that such calls
 * go before all that can wait for an interval, in the order of the collectors.
 */
function atOnceMs({ priority }: Job): number {
  return priority;
}

/** Runs collectors; the one place where their failures end. */
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

  run(job: Job, pace: Pace): Promise<Outcome> {
    const { collector } = job;
    return isFarmCollector(collector) ? this.#round(job, collector, pace) : this.#once(job, collector, pace);
  }

  /** Reads one farm at once. Does nothing for a farm that is not watched or not covered. */
  async farm(job: Job, collector: FarmCollector, name: string): Promise<Outcome> {
    const farm = this.#parts.results.facts.farms?.find((each) => each.name === name);
    if (!farm || !collector.covers(farm)) return 'ok';
    const { outcome, collectFarm } = await this.#begin(job, collector, atOnceMs(job));
    return collectFarm ? await this.#oneFarm(job, { farm, collectFarm, maxWaitMs: atOnceMs(job) }) : outcome;
  }

  #once(job: Job, collector: ApplianceCollector, pace: Pace): Promise<Outcome> {
    const maxWaitMs = pace === 'at_once' || job.priority === 0 ? atOnceMs(job) : job.intervalMs;
    return this.#step(job, {
      origin: { collector: collector.name },
      maxWaitMs,
      work: (context) => collector.collect(context),
    });
  }

  /**
   * Reads all farms, one call after the other, spread over the interval or as fast as the budget
   * allows.
   */
  async #round(job: Job, collector: FarmCollector, pace: Pace): Promise<Outcome> {
    const { results } = this.#parts;
    const farms = job.farmOrder.next((results.facts.farms ?? []).filter((farm) => collector.covers(farm)));
    let startMs = steadyNow();
    const maxWaitMs = pace === 'at_once' ? atOnceMs(job) : job.intervalMs;
    const { outcome: beginning, collectFarm } = await this.#begin(job, collector, maxWaitMs);
    if (!collectFarm) return beginning;
    const beginSeconds = job.spentSeconds;

    let worst: Outcome = 'ok';
    for (const farm of farms) {
      if (!(await this.#sleepUntil(startMs))) return 'closing';
      // Looked up each time: the cost of the calls changes how far apart they may be.
      if (pace === 'spread') startMs += results.timing.roundMs(job) / farms.length;
      if (!this.#isListed(farm)) continue;
      const before = job.spentSeconds;
      const outcome = await this.#oneFarm(job, { farm, collectFarm, maxWaitMs });
      if (outcome === 'closing') return outcome;
      // A failure before the round was cut off counts.
      if (isOneOf(skipReasons, outcome)) return worst === 'ok' ? outcome : worst;
      if (outcome !== 'ok') worst = 'failed';
      job.farmOrder.read(farm.name, outcome === 'ok' ? job.spentSeconds - before : undefined);
      results.budget.expects(collector.name, beginSeconds + job.farmOrder.roundSeconds(farms.length));
    }
    return worst;
  }

  async #begin(job: Job, collector: FarmCollector, maxWaitMs: number): Promise<Beginning> {
    let collectFarm: CollectFarm | undefined;
    const outcome = await this.#step(job, {
      origin: { collector: collector.name },
      maxWaitMs,
      work: async (context) => {
        collectFarm = await collector.begin(context);
        return undefined;
      },
    });
    return { outcome, collectFarm };
  }

  #oneFarm(
    job: Job,
    { farm, collectFarm, maxWaitMs }: { farm: FarmFact; collectFarm: CollectFarm; maxWaitMs: number },
  ): Promise<Outcome> {
    return this.#step(job, {
      origin: { collector: job.collector.name, farm: farm.name },
      maxWaitMs,
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
   * Needs no deadline: waits are bounded by the calls before them, and each call by its own
   * time-out.
   */
  async #step(job: Job, { origin, maxWaitMs, work }: Step): Promise<Outcome> {
    const { caller, closing, reasonToStop, state, onStep } = this.#parts;
    const { age } = state;
    const startedAtMs = steadyNow();
    let askedAtMs: number | undefined;
    const unreadable: UnreadableField[] = [];
    const read = caller.reader({
      maxWaitMs,
      signal: closing,
      skipReason: () => reasonToStop(job),
      asked() {
        askedAtMs ??= age();
      },
      spent(seconds) {
        job.spentSeconds += seconds;
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
      if (job.current) job.current.lostMs += steadyNow() - startedAtMs;
      return this.#fail(job, origin, toError(thrown));
    }
  }

  #contextOf(read: ReadFrom): CollectContext {
    const { results, closing: signal, watches, now, labels, vip } = this.#parts;
    return {
      read,
      signal,
      watches,
      now,
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

  /** Returns false when the poller closes meanwhile. */
  async #sleepUntil(timeMs: number): Promise<boolean> {
    const { closing } = this.#parts;
    const wait = timeMs - steadyNow();
    if (wait > 0) await sleep(wait, closing).catch(() => undefined);
    return !closing.aborted;
  }
}
