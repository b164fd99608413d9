import type { Logger } from 'pino';
import { type BreakerState, createBreaker } from '../appliance/breaker.ts';
import type { ApplianceClient, CallReport, ReadKey } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { ReadFrom } from '../collectors/collector.ts';
import { steadyNow } from '../lib/steady-now.ts';
import type { SkipReason } from './counters.ts';
import { createCallQueue } from './call-queue.ts';

/** A call was not made, since something that came to light while it waited for its turn speaks against it. */
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
  /** How long a call can wait for its turn behind others. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** A call leaves now. */
  readonly asked: () => void;
  /** Receives the seconds of each call. */
  readonly spent: (seconds: number) => void;
  /** What speaks against another call of this run, asked right before it leaves. */
  readonly objection: () => SkipReason | undefined;
}

/** Makes the calls to one appliance: one at a time, within its busy share, behind the breaker, and rarely for a route it lacks. */
export interface Caller {
  /** Reads on behalf of one run. */
  reader(run: CallingRun): ReadFrom;
  /** After a change of version the routes that were missing are worth another try. */
  forgetMissingRoutes(): void;
  readonly breakerState: BreakerState;
  /** False while a run would be refused at its first call. */
  readonly wouldAdmit: boolean;
  /** No call leaves before then, by the steady clock: what the last ones cost the appliance. */
  readonly opensAtMs: number;
  close(): Promise<void>;
}

export interface CallerParts {
  readonly connect: (onCall: (report: CallReport) => void) => ApplianceClient;
  readonly onCall: (report: CallReport) => void;
  /** The breaker closed again. */
  readonly onRecovered: () => void;
  readonly maxConcurrent: number;
  readonly maxBusyRatio: number;
  /** Of the caller whose place this one takes: the appliance is at rest until then. */
  readonly opensAtMs?: number | undefined;
  readonly log: Logger;
  /** See lib/age-clock.ts; the waits of the breaker go by it. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Reads that a collector can do without, since it has another one or leaves a part out; asking again and again is idle. */
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
      ({ patienceMs, signal, asked, spent, objection }) =>
      async (key, params) => {
        const known = missing.get(key);
        if (known && now() < known.untilMs) throw known.error;
        return await queue.run(patienceMs, signal, async () => {
          const reason = objection() ?? (breaker.admit() ? undefined : 'breaker_open');
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
