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

/** How a run ended. `closing`: we stop; `lacking`: the appliance has no such route; a skip reason: its calls were not made. */
export type Outcome = 'ok' | 'failed' | 'lacking' | 'closing' | SkipReason;

/** Carries out one run of a collector; the one place where its failures end. */
export interface Collecting {
  once(job: Job, collector: Exclude<Collector, FarmCollector>, pace: Pace): Promise<Outcome>;
  /** All farms, one call after the other, spread over the interval or as fast as the appliance may be asked. */
  round(job: Job, collector: FarmCollector, pace: Pace): Promise<Outcome>;
  /** One farm alone, at once; a farm that is not watched, or not covered, is no failure. */
  farm(job: Job, collector: FarmCollector, farm: string): Promise<Outcome>;
}

export type Pace = 'at_once' | 'spread';

/** The start of a round; without a way to collect a farm it failed. */
interface Beginning {
  readonly outcome: Outcome;
  readonly collectFarm: Awaited<ReturnType<FarmCollector['begin']>> | undefined;
}

export interface CollectingParts {
  readonly caller: Caller;
  readonly timing: Timing;
  readonly failures: FailureLog;
  readonly closing: AbortSignal;
  /** What speaks against another call for a job. */
  readonly objection: (job: Job) => SkipReason | undefined;
  /** What does not change of a collector's context. */
  readonly context: Omit<CollectContext, 'read' | 'facts'>;
  readonly facts: () => Facts;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
  /** `askedAtMs`: the age at which the first call for it was made; what it says may be as old as that. */
  readonly onReading: (job: Job, origin: Origin, data: unknown, askedAtMs: number) => void;
  /** What a round costs the appliance, as far as it is known by now. */
  readonly onRoundCost: (job: Job, busySeconds: number) => void;
  readonly onFailure: (origin: Origin, reason: FailureReason) => void;
}

export function createCollecting(parts: CollectingParts): Collecting {
  const { caller, timing, failures, closing, objection, context, facts, age, onReading, onRoundCost, onFailure } =
    parts;
  /** The newest list of farms as a set, made anew when the list is another. */
  let listed: { readonly from: readonly FarmFact[] | undefined; readonly names: ReadonlySet<string> } = {
    from: undefined,
    names: new Set(),
  };

  return {
    once(job, collector, pace) {
      const origin = { collector: collector.name };
      // What is wanted at once comes in the order of the list, before all that can wait for an interval; the first never waits.
      const patienceMs = pace === 'at_once' || job.precedence === 0 ? job.precedence : job.intervalMs;
      return step(job, patienceMs, origin, (stepContext) => collector.collect(stepContext));
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
        // Looked up at every turn: what the calls cost changes how far apart they may be.
        if (pace === 'spread') turnMs += timing.roundMs(job) / farms.length;
        if (!isStillListed(farm)) continue;
        const before = job.spentSeconds;
        const origin = { collector: collector.name, farm: farm.name };
        const outcome = await step(job, job.intervalMs, origin, async (stepContext) => {
          const data = await collectFarm(farm, stepContext);
          return isStillListed(farm) ? data : undefined;
        });
        if (outcome === 'closing') return outcome;
        // What it came to before it was cut off stays what it came to.
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
      const { outcome: beginning, collectFarm } = await begin(job, collector, job.precedence);
      if (!collectFarm) return beginning;
      const origin = { collector: collector.name, farm: name };
      return await step(job, job.precedence, origin, async (stepContext) => {
        const data = await collectFarm(farm, stepContext);
        return isStillListed(farm) ? data : undefined;
      });
    },
  };

  async function begin(job: Job, collector: FarmCollector, patienceMs: number): Promise<Beginning> {
    let collectFarm: Beginning['collectFarm'];
    const outcome = await step(job, patienceMs, { collector: collector.name }, async (stepContext) => {
      collectFarm = await collector.begin(stepContext);
      return undefined;
    });
    return { outcome, collectFarm };
  }

  /** A farm that was deleted in the course of a round is not asked for: the refusal would pass for trouble. */
  function isStillListed({ name }: FarmFact): boolean {
    const { farms } = facts();
    if (listed.from !== farms) listed = { from: farms, names: new Set(farms?.map((farm) => farm.name)) };
    return listed.names.has(name);
  }

  /** Waits for turns are bounded by the calls before them, and each call by its own time-out: a step needs no deadline. */
  async function step(
    job: Job,
    patienceMs: number,
    origin: Origin,
    work: (context: CollectContext) => Promise<unknown>,
  ): Promise<Outcome> {
    const startedAtMs = steadyNow();
    let askedAtMs: number | undefined;
    const read = caller.reader({
      patienceMs,
      signal: closing,
      objection: () => objection(job),
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
      failures.lacking(origin.collector, error);
      return 'lacking';
    }
    // What a collector trips over in a reply that passed its schema is a reply that makes no sense.
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
