import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import type { Collector, CollectContext, FarmCollector, FarmFact, Facts } from '../collectors/collector.ts';
import { isOneOf, toError } from '../lib/check.ts';
import { sleep } from '../lib/sleep.ts';
import { steadyNow } from '../lib/steady-now.ts';
import { type Caller, NotAskedError } from './caller.ts';
import { type SkipReason, skipReasons } from './counters.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { Origin } from './origin.ts';
import type { Timing } from './timing.ts';

/** How a run ended. `closing`: the poller closes; `unsupported_route`: the appliance has no such route; a skip reason: no calls were made. */
export type Outcome = 'ok' | 'failed' | 'unsupported_route' | 'closing' | SkipReason;

/** Runs collectors; the one place where their failures end. */
export interface Runner {
  once(job: Job, collector: Exclude<Collector, FarmCollector>, pace: Pace): Promise<Outcome>;
  /** Reads all farms, one call after the other, spread over the interval or as fast as the budget allows. */
  round(job: Job, collector: FarmCollector, pace: Pace): Promise<Outcome>;
  /** Reads one farm at once; a farm that is not watched, or not covered, is no failure. */
  farm(job: Job, collector: FarmCollector, farm: string): Promise<Outcome>;
}

export type Pace = 'at_once' | 'spread';

/** The start of a round; it failed if `collectFarm` is undefined. */
interface Beginning {
  readonly outcome: Outcome;
  readonly collectFarm: Awaited<ReturnType<FarmCollector['begin']>> | undefined;
}

export interface RunnerParts {
  readonly caller: Caller;
  readonly timing: Timing;
  readonly failures: FailureLog;
  readonly closing: AbortSignal;
  /** Returns why no further call for a job may leave. */
  readonly skipReason: (job: Job) => SkipReason | undefined;
  /** The part of a collector's context that does not change. */
  readonly context: Omit<CollectContext, 'read' | 'facts'>;
  readonly facts: () => Facts;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
  /** `askedAtMs`: the age at which the first call was made; the data may be as old as that. */
  readonly onReading: (job: Job, origin: Origin, data: unknown, askedAtMs: number) => void;
  /** Called with the cost of a round, as far as it is known by now. */
  readonly onRoundCost: (job: Job, busySeconds: number) => void;
  readonly onFailure: (origin: Origin, reason: FailureReason) => void;
}

export function createRunner(parts: RunnerParts): Runner {
  const { caller, timing, failures, closing, skipReason, context, facts, age, onReading, onRoundCost, onFailure } =
    parts;
  /** The newest list of farms as a set, made anew when the list is another. */
  let listed: { readonly from: readonly FarmFact[] | undefined; readonly names: ReadonlySet<string> } = {
    from: undefined,
    names: new Set(),
  };

  return {
    once(job, collector, pace) {
      const origin = { collector: collector.name };
      // Runs that are wanted at once come in the order of the list, before all that can wait for an interval.
      const maxWaitMs = pace === 'at_once' || job.priority === 0 ? job.priority : job.intervalMs;
      return step(job, maxWaitMs, origin, (stepContext) => collector.collect(stepContext));
    },

    async round(job, collector, pace) {
      const farms = job.farmOrder.next((facts().farms ?? []).filter((farm) => collector.covers(farm)));
      const startedAtMs = steadyNow();
      const { outcome: beginning, collectFarm } = await begin(job, collector, job.intervalMs);
      if (!collectFarm) return beginning;
      const beginSeconds = job.spentSeconds;

      let worst: Outcome = 'ok';
      let turnMs = startedAtMs;
      for (const farm of farms) {
        if (!(await sleepUntil(turnMs))) return 'closing';
        // Looked up each time: the cost of the calls changes how far apart they may be.
        if (pace === 'spread') turnMs += timing.roundMs(job) / farms.length;
        if (!isStillListed(farm)) continue;
        const before = job.spentSeconds;
        const origin = { collector: collector.name, farm: farm.name };
        const outcome = await step(job, job.intervalMs, origin, async (stepContext) => {
          const data = await collectFarm(farm, stepContext);
          return isStillListed(farm) ? data : undefined;
        });
        if (outcome === 'closing') return outcome;
        // A failure before the round was cut off counts.
        if (isOneOf(skipReasons, outcome)) return worst === 'ok' ? outcome : worst;
        if (outcome !== 'ok') worst = 'failed';
        job.farmOrder.read(farm.name, outcome === 'ok' ? job.spentSeconds - before : undefined);
        onRoundCost(job, beginSeconds + job.farmOrder.roundSeconds(farms.length));
      }
      return worst;
    },

    async farm(job, collector, name) {
      const farm = facts().farms?.find((each) => each.name === name);
      if (!farm || !collector.covers(farm)) return 'ok';
      const { outcome: beginning, collectFarm } = await begin(job, collector, job.priority);
      if (!collectFarm) return beginning;
      const origin = { collector: collector.name, farm: name };
      return await step(job, job.priority, origin, async (stepContext) => {
        const data = await collectFarm(farm, stepContext);
        return isStillListed(farm) ? data : undefined;
      });
    },
  };

  async function begin(job: Job, collector: FarmCollector, maxWaitMs: number): Promise<Beginning> {
    let collectFarm: Beginning['collectFarm'];
    const outcome = await step(job, maxWaitMs, { collector: collector.name }, async (stepContext) => {
      collectFarm = await collector.begin(stepContext);
      return undefined;
    });
    return { outcome, collectFarm };
  }

  /** False for a farm that was deleted in the course of a round: the refusal would count as a failure. */
  function isStillListed({ name }: FarmFact): boolean {
    const { farms } = facts();
    if (listed.from !== farms) listed = { from: farms, names: new Set(farms?.map((farm) => farm.name)) };
    return listed.names.has(name);
  }

  /** A step needs no deadline: waits are bounded by the calls before them, and each call by its own time-out. */
  async function step(
    job: Job,
    maxWaitMs: number,
    origin: Origin,
    work: (context: CollectContext) => Promise<unknown>,
  ): Promise<Outcome> {
    const startedAtMs = steadyNow();
    let askedAtMs: number | undefined;
    const read = caller.reader({
      maxWaitMs,
      signal: closing,
      skipReason: () => skipReason(job),
      asked() {
        askedAtMs ??= age();
      },
      spent(seconds) {
        job.spentSeconds += seconds;
      },
    });
    try {
      // Facts may be newer after a call than before it.
      const data = await work({
        ...context,
        read,
        get facts() {
          return facts();
        },
      });
      if (data !== undefined) onReading(job, origin, data, askedAtMs ?? age());
      failures.recovered(origin);
      return 'ok';
    } catch (thrown) {
      if (closing.aborted) return 'closing';
      if (thrown instanceof NotAskedError) return thrown.reason;
      if (job.current) job.current.lostMs += steadyNow() - startedAtMs;
      return judge(job, origin, toError(thrown));
    }
  }

  function judge({ collector }: Job, origin: Origin, error: Error): Outcome {
    if (error instanceof ApplianceError && error.routeMissing && collector.optional) {
      failures.unsupported(origin.collector, error);
      return 'unsupported_route';
    }
    // A collector that throws on a reply which passed its schema met a reply that makes no sense.
    const reason = error instanceof ApplianceError ? error.reason : 'malformed';
    failures.failed(origin, reason, error);
    onFailure(origin, reason);
    return 'failed';
  }

  /** False when the poller closes meanwhile. */
  async function sleepUntil(timeMs: number): Promise<boolean> {
    const wait = timeMs - steadyNow();
    if (wait > 0) await sleep(wait, closing).catch(() => undefined);
    return !closing.aborted;
  }
}
