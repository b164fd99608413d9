import type { FailureReason } from './errors.ts';

export const breakerStates = ['closed', 'open', 'half_open'] as const;

export type BreakerState = (typeof breakerStates)[number];

/** A circuit breaker: stops calls to an appliance that does not answer or refuses the key. */
export interface Breaker {
  readonly state: BreakerState;
  /** Returns true if a call may start now. In half-open one may, and its outcome decides. */
  admit(): boolean;
  /** Records a response of the appliance, whatever it was. */
  recordResponse(): void;
  /** Records a transport failure; the third in a row opens the breaker. */
  recordFailure(reason: FailureReason): void;
  /** Records a refused key: opens at once, because further tries can lock an account. */
  recordRefusedKey(): void;
  /** The reason of the newest failure; undefined after a response. */
  readonly reason: FailureReason | undefined;
  /** Milliseconds until the next probe; 0 if one may start. */
  readonly waitMs: number;
  /** Records that a call was sent; returns a function for its end. */
  startCall(): () => void;
  /** False after a failure until the next answer, and while a call waits far longer than others. */
  readonly callsSucceed: boolean;
}

export interface BreakerOptions {
  /** A clock that never goes back. */
  readonly elapsedNow: () => number;
  readonly random: () => number;
}

const failuresToOpen = 3;
/** The time between two probes of an appliance that does not answer. */
const probeEveryMs = 10_000;
const maxWaitMs = 120_000;
/** The time after which an unanswered call is a sign of an outage, if all calls are faster. */
const silenceMs = 12_000;

/**
 * Waits 10 s between two probes of an appliance that does not answer. After a refused key the wait
 * doubles, up to 2 minutes. Jitter shortens it by up to half.
 */
export function createBreaker({ elapsedNow, random }: BreakerOptions): Breaker {
  const pending = new Set<{ readonly sentAtElapsedMs: number }>();
  let state: BreakerState = 'closed';
  let failures = 0;
  let reason: FailureReason | undefined;
  let refusals = 0;
  let probeAtElapsedMs = 0;
  let slowestMs = 0;

  function open(waitMs: number): void {
    state = 'open';
    probeAtElapsedMs = elapsedNow() + waitMs * (1 - random() / 2);
  }

  return {
    get state() {
      return state;
    },
    get reason() {
      return reason;
    },
    get waitMs() {
      return state === 'open' ? Math.max(0, probeAtElapsedMs - elapsedNow()) : 0;
    },
    get callsSucceed() {
      const patienceMs = Math.max(silenceMs, 1.5 * slowestMs);
      return (
        state === 'closed' &&
        failures === 0 &&
        [...pending].every(({ sentAtElapsedMs }) => elapsedNow() - sentAtElapsedMs < patienceMs)
      );
    },
    admit() {
      if (state === 'closed') return true;
      if (state === 'half_open' || elapsedNow() < probeAtElapsedMs) return false;
      state = 'half_open';
      return true;
    },
    startCall() {
      const call = { sentAtElapsedMs: elapsedNow() };
      pending.add(call);
      return () => void pending.delete(call);
    },
    recordResponse() {
      for (const { sentAtElapsedMs } of pending) slowestMs = Math.max(elapsedNow() - sentAtElapsedMs, 0.9 * slowestMs);
      state = 'closed';
      reason = undefined;
      failures = 0;
      refusals = 0;
    },
    recordFailure(cause) {
      reason = cause;
      failures += 1;
      if (state === 'half_open' || (state === 'closed' && failures >= failuresToOpen)) open(probeEveryMs);
    },
    recordRefusedKey() {
      reason = 'unauthorized';
      failures += 1;
      if (state !== 'open') open(Math.min(probeEveryMs * 2 ** refusals, maxWaitMs));
      refusals += 1;
    },
  };
}
