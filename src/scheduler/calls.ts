import type { Logger } from 'pino';
import type { Breaker } from '../appliance/breaker.ts';
import type { EndpointRow } from '../appliance/api/row.ts';
import { endpoints } from '../appliance/api/table.ts';
import type { ApplianceClient, CallReport, Params, ReadKey, ReplyOf, UnreadableField } from '../appliance/client.ts';
import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import type { Read, CollectorReadOptions } from '../collectors/collector.ts';
import { sleep, steadyNow } from '../lib/time.ts';
import type { SkipReason } from '../state/status.ts';
import { type CallQueue, createCallQueue, type NotBefore, type PollingLimits, type Priority } from './call-queue.ts';

/** A call that was not made, for a reason that appeared while it waited in the queue. */
export class CallSkippedError extends Error {
  override readonly name = 'CallSkippedError';
  readonly reason: SkipReason;

  constructor(reason: SkipReason) {
    super(`call skipped: ${reason}`);
    this.reason = reason;
  }
}

/** The calls of one step of a run, and what they leave behind. */
export interface StepCalls {
  readonly signal: AbortSignal;
  readonly priority: Priority;
  /** Returns why no further call may leave; called right before each one. */
  readonly skipReason: () => SkipReason | undefined;
  /** When the first of them was made, or one of an earlier step on which the reading also rests. */
  askedAtElapsedMs: number | undefined;
  spentSeconds: number;
  /** Routes that the appliance lacks, as far as it was asked. */
  readonly missing: Map<ReadKey, ApplianceError>;
  readonly unreadable: UnreadableField[];
}

export interface CallsParts {
  readonly breaker: Breaker;
  readonly connect: (onCall: (report: CallReport) => void) => ApplianceClient;
  readonly onCall: (report: CallReport) => void;
  readonly onRecovered: () => void;
  /** `timeoutMs` is the limit of a call that waits for no proxy. */
  readonly polling: PollingLimits & { readonly timeoutMs: number };
  /** The time without a call after which a ping asks whether the appliance still answers. */
  readonly idleMs: number;
  /** Returns false while the appliance refuses everything. */
  readonly mayPing: () => boolean;
  /** `notBefore` of those that these replace. */
  readonly notBefore?: NotBefore | undefined;
  readonly log: Logger;
  readonly elapsedNow: () => number;
}

/**
 * The time until a route that an appliance lacks is asked for again: it stays missing, but a 404
 * may also have been a bad moment.
 */
export const missingForMs = 3_600_000;
/**
 * The least time limit of a ping, which most appliances answer in a second. A longer one would delay
 * the ping that finds that the appliance answers again.
 */
const minPingLimitMs = 8_000;
/** No ping follows a call that took longer: a slow appliance is asked enough. */
const longBeforePingSeconds = 2;
/** The least time limit of a call that waits for proxies. */
const minProxyCallLimitMs = 7_000;
const betweenPingsMs = 2_000;

interface MissingRoute {
  readonly error: ApplianceError;
  readonly untilElapsedMs: number;
}

/**
 * Makes the calls to one appliance, through the call queue and the circuit breaker. Asks rarely for
 * a route that it lacks.
 */
export class Calls {
  readonly #parts: CallsParts;
  readonly #queue: CallQueue;
  readonly #breaker: Breaker;
  readonly #client: ApplianceClient;
  readonly #missing = new Map<ReadKey, MissingRoute>();
  /** How long the last call took, for reads that wait for proxies; doubled by a time-out. */
  readonly #usualMs = new Map<ReadKey, number>();
  readonly #closing = new AbortController();
  #pinging: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: CallsParts) {
    const { breaker } = parts;
    this.#parts = parts;
    this.#queue = createCallQueue(parts.polling, parts.notBefore);
    this.#breaker = breaker;
    this.#client = parts.connect((report) => this.#onCall(report));
  }

  /** Returns false while the breaker would refuse even a ping. */
  get wouldAdmit(): boolean {
    const { state, waitMs } = this.#breaker;
    return state === 'closed' || (state === 'open' && waitMs === 0);
  }

  get notBefore(): NotBefore {
    return this.#queue.notBefore;
  }

  readFor(step: StepCalls): Read {
    return async (key, params, options = {}) => {
      const known = this.#missing.get(key);
      if (known && this.#parts.elapsedNow() < known.untilElapsedMs) throw known.error;
      return await this.#queue.run(step, () => this.#call(step, key, params, options));
    };
  }

  /**
   * Asks no more, for an hour, for the missing routes that a step could do without. Called for a step
   * that succeeded: one that failed met a bad moment, or an appliance that should have the route.
   */
  rememberMissingRoutes({ missing }: StepCalls): void {
    for (const [key, error] of missing)
      this.#missing.set(key, { error, untilElapsedMs: this.#parts.elapsedNow() + missingForMs });
  }

  /** Tries missing routes again, after what may have brought them. */
  forgetMissingRoutes(): void {
    this.#missing.clear();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#idle);
    await this.#pinging;
    await this.#client.close();
  }

  /**
   * Makes the cheapest call while the breaker is open, once after a failure, and after a time without
   * calls, so that the begin and the end of an outage are noticed soon. One ping at a time.
   */
  #startPinging(): void {
    this.#pinging ??= this.#pingUntilAnswered().finally(() => {
      this.#pinging = undefined;
    });
  }

  #pingIfIdle(): void {
    const isBusy = steadyNow() < this.#queue.notBefore.urgentSteadyMs;
    if (!isBusy && !this.#closing.signal.aborted && this.#parts.mayPing()) this.#startPinging();
  }

  async #pingUntilAnswered(): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = 0; !signal.aborted; pauseMs = betweenPingsMs) {
      const waitMs = Math.max(pauseMs, this.#breaker.waitMs);
      // The first ping waits in the queue at once, before later calls.
      if (waitMs > 0) await sleep(waitMs, signal).catch(() => undefined);
      const hasAnswered = await this.#queue.run({ signal, priority: 'urgent' }, () => this.#ping()).catch(() => false);
      if (hasAnswered) return;
    }
  }

  /** Returns true if the appliance answers, whatever its response is. */
  async #ping(): Promise<boolean> {
    if (!this.#breaker.admit()) return false;
    const endCall = this.#breaker.startCall();
    const startSteadyMs = steadyNow();
    try {
      await this.#client.read('readSystemVersion', {}, this.#closing.signal, {
        // As slow as it was before its outage, it must not stay away for ever.
        limitMs: Math.min(Math.max(minPingLimitMs, 2 * this.#breaker.slowestMs), this.#parts.polling.timeoutMs),
      });
      this.#queue.charge((steadyNow() - startSteadyMs) / 1_000, 'urgent');
      return true;
    } catch {
      return this.#breaker.callsSucceed;
    } finally {
      endCall();
    }
  }

  async #call<Key extends ReadKey>(
    step: StepCalls,
    key: Key,
    params: Params<Key>,
    { limitMs, workMs = Number.POSITIVE_INFINITY, onDuration }: CollectorReadOptions,
  ): Promise<ReplyOf<Key>> {
    // The first call after the wait is the cheapest one, and decides for all others.
    if (this.#breaker.state !== 'closed' && !step.skipReason()) await this.#ping();
    const reason = step.skipReason() ?? this.#reasonToHold(step);
    if (reason) throw new CallSkippedError(reason);
    const startSteadyMs = steadyNow();
    let hasTimedOut = false;
    step.askedAtElapsedMs ??= this.#parts.elapsedNow();
    // A call that waits for proxies may take long.
    const endCall = limitMs === undefined && !waitsForProxies(key) ? this.#breaker.startCall() : undefined;
    try {
      const onUnreadable = (found: readonly UnreadableField[]): void => void step.unreadable.push(...found);
      const limits = { limitMs: limitMs ?? this.#usualLimitMs(key), onUnreadable };
      const reply = await this.#client.read(key, params, step.signal, limits);
      onDuration?.(steadyNow() - startSteadyMs);
      if (waitsForProxies(key)) this.#usualMs.set(key, steadyNow() - startSteadyMs);
      return reply;
    } catch (error) {
      hasTimedOut = error instanceof ApplianceError && error.reason === 'timeout';
      const usualMs = this.#usualMs.get(key);
      if (hasTimedOut && usualMs !== undefined) this.#usualMs.set(key, 2 * usualMs);
      // Some releases say the same of an object that is not there, such as a farm.
      if (error instanceof ApplianceError && error.routeMissing && Object.keys(params).length === 0)
        step.missing.set(key, error);
      throw error;
    } finally {
      const seconds = Math.min(Math.max(steadyNow() - startSteadyMs - sleepsMsOf(key), 0), workMs) / 1_000;
      step.spentSeconds += seconds;
      // Nobody knows the work of an appliance that never answered; the breaker spaces those calls.
      if (!hasTimedOut) this.#queue.charge(seconds, step.priority);
      endCall?.();
    }
  }

  #reasonToHold({ priority }: StepCalls): SkipReason | undefined {
    if (this.#breaker.state !== 'closed') return 'breaker_open';
    return priority === 'immediate' && !this.#queue.admitsImmediate ? 'stretched' : undefined;
  }

  /** Returns a limit for a call that waits for proxies, once it is known how long it takes. */
  #usualLimitMs(key: ReadKey): number | undefined {
    const usualMs = this.#usualMs.get(key);
    if (usualMs === undefined) return undefined;
    const { timeoutMs } = this.#parts.polling;
    const maxMs = Math.max(timeoutMs, maxProxyWaitMsOf(key));
    return Math.min(Math.max(3 * usualMs, Math.min(minProxyCallLimitMs, timeoutMs)), maxMs);
  }

  #onCall(report: CallReport): void {
    clearTimeout(this.#idle);
    if (report.seconds < longBeforePingSeconds) this.#idle = setTimeout(() => this.#pingIfIdle(), this.#parts.idleMs);
    // A timeout may be that of a proxy, while all else answers: a ping tells.
    if (report.reason === 'timeout' && report.waitsForProxies) this.#startPinging();
    else this.#judge(report);
    this.#parts.onCall(report);
  }

  #judge({ reason }: CallReport): void {
    const { log, onRecovered } = this.#parts;
    const before = this.#breaker.state;
    if (reason === 'unauthorized') this.#breaker.recordRefusedKey();
    else if (isTransportFailure(reason)) this.#breaker.recordFailure(reason);
    else if (reason !== 'cancelled') this.#breaker.recordResponse();
    const { state, waitMs } = this.#breaker;
    if (isTransportFailure(reason) || state === 'open') this.#startPinging();
    if (before === 'closed' && state === 'open')
      log.warn({ reason, retryInSeconds: Math.round(waitMs / 1_000) }, 'circuit breaker open, polling paused');
    if (before !== 'closed' && state === 'closed') {
      log.info('appliance answers again, polling resumed');
      onRecovered();
    }
  }
}

/** Returns true for a failure after which it is not known whether the appliance answers at all. */
function isTransportFailure(reason: FailureReason | undefined): reason is 'connect' | 'timeout' | 'tls' {
  return reason === 'connect' || reason === 'timeout' || reason === 'tls';
}

function waitsForProxies(key: ReadKey): boolean {
  return maxProxyWaitMsOf(key) > 0;
}

function sleepsMsOf(key: ReadKey): number {
  const row: EndpointRow = endpoints[key];
  return row.sleepsMs ?? 0;
}

/** Returns how long the appliance may wait for proxies before it answers; 0 if it asks none. */
function maxProxyWaitMsOf(key: ReadKey): number {
  const row: EndpointRow = endpoints[key];
  return row.maxProxyWaitMs ?? 0;
}
