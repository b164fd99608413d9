import type { Logger } from 'pino';
import { type BreakerState, createBreaker } from '../appliance/breaker.ts';
import type { ApplianceClient, CallReport, ReadKey } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { ReadFrom } from '../collectors/collector.ts';
import { steadyNow } from '../lib/steady-now.ts';
import type { SkipReason } from './counters.ts';
import { createCallQueue } from './call-queue.ts';

/** A call that was not made, for a reason that appeared while it waited in the queue. */
export class NotAskedError extends Error {
  override readonly name = 'NotAskedError';
  readonly reason: SkipReason;

  constructor(reason: SkipReason) {
    super(`not asked: ${reason}`);
    this.reason = reason;
  }
}

/** One run, as its calls see it. */
export interface CallingRun {
  /** How long a call can wait behind others. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Called when a call leaves. */
  readonly asked: () => void;
  /** Receives the seconds of each call. */
  readonly spent: (seconds: number) => void;
  /** Returns why no further call of this run may leave; called right before each one. */
  readonly skipReason: () => SkipReason | undefined;
}

/** Makes the calls to one appliance: through the call queue and the circuit breaker, and rarely for a route that it lacks. */
export interface Caller {
  /** Reads on behalf of one run. */
  reader(run: CallingRun): ReadFrom;
  /** Tries missing routes again, after a change of version. */
  forgetMissingRoutes(): void;
  readonly breakerState: BreakerState;
  /** False while the breaker would refuse the first call of a run. */
  readonly wouldAdmit: boolean;
  /** No call leaves before this time, by the steady clock; see {@link CallQueue.charge}. */
  readonly opensAtMs: number;
  close(): Promise<void>;
}

export interface CallerParts {
  readonly connect: (onCall: (report: CallReport) => void) => ApplianceClient;
  readonly onCall: (report: CallReport) => void;
  /** Called when the breaker has closed again. */
  readonly onRecovered: () => void;
  readonly maxConcurrent: number;
  readonly maxBusyRatio: number;
  /** `opensAtMs` of the caller that this one replaces. */
  readonly opensAtMs?: number | undefined;
  readonly log: Logger;
  /** See lib/age-clock.ts; the breaker measures its waits with it. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Reads that a collector can do without, since it has another one or leaves a part out: a missing route is not asked for each time. */
const dispensable: readonly ReadKey[] = ['listFarmStats', 'readSystemInfo', 'listVirtualInterfaces'];
const rememberMissingForMs = 600_000;

export function createCaller({
  connect,
  onCall,
  onRecovered,
  maxConcurrent,
  maxBusyRatio,
  opensAtMs,
  log,
  now,
  random,
}: CallerParts): Caller {
  const queue = createCallQueue({ maxConcurrent, maxBusyRatio, now: steadyNow, opensAtMs });
  const breaker = createBreaker({ now, random });
  const missing = new Map<ReadKey, { readonly error: ApplianceError; readonly untilMs: number }>();
  const client = connect((report) => {
    // An appliance that never answered did no work for us that could be known; the breaker spaces those calls.
    if (report.reason !== 'timeout') queue.charge(report.seconds);
    judge(report);
    onCall(report);
  });

  function judge({ reason }: CallReport): void {
    const before = breaker.state;
    if (reason === 'unauthorized') breaker.rejected();
    else if (reason === 'connect' || reason === 'timeout' || reason === 'tls') breaker.failed();
    else if (reason !== 'cancelled') breaker.succeeded();
    const { state } = breaker;
    if (before === 'closed' && state === 'open')
      log.warn(
        { reason, retryInSeconds: Math.round(breaker.waitMs / 1_000) },
        'appliance does not answer as it should, polling paused',
      );
    if (before !== 'closed' && state === 'closed') {
      log.info('appliance answers again, polling resumed');
      onRecovered();
    }
  }

  return {
    get breakerState() {
      return breaker.state;
    },
    get wouldAdmit() {
      return breaker.state === 'closed' || (breaker.state === 'open' && breaker.waitMs === 0);
    },
    get opensAtMs() {
      return queue.opensAtMs;
    },
    reader:
      ({ maxWaitMs, signal, asked, spent, skipReason }) =>
      async (key, params) => {
        const known = missing.get(key);
        if (known && now() < known.untilMs) throw known.error;
        return await queue.run(maxWaitMs, signal, async () => {
          const reason = skipReason() ?? (breaker.admit() ? undefined : 'breaker_open');
          if (reason) throw new NotAskedError(reason);
          const startedAt = steadyNow();
          asked();
          try {
            return await client.read(key, params, signal);
          } catch (error) {
            if (error instanceof ApplianceError && error.routeMissing && dispensable.includes(key))
              missing.set(key, { error, untilMs: now() + rememberMissingForMs });
            throw error;
          } finally {
            spent((steadyNow() - startedAt) / 1_000);
            // The probe ended without an outcome of its own, for example because it was cancelled.
            if (breaker.state === 'half_open') breaker.failed();
          }
        });
      },
    forgetMissingRoutes: () => missing.clear(),
    close: () => client.close(),
  };
}
