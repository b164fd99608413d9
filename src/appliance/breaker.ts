import type { FailureReason } from './errors.ts';

export const breakerStates = ['closed', 'open', 'half_open'] as const;

export type BreakerState = (typeof breakerStates)[number];

export type Breaker = ReturnType<typeof createBreaker>;

interface BreakerParts {
  readonly elapsedNow: () => number;
  readonly random: () => number;
  /** The reason of the newest failure of the breaker that it replaces; undefined after a response. */
  readonly before?: FailureReason | undefined;
}

const failuresToOpen = 3;
/** The time between two pings of an appliance that does not answer. */
const pingEveryMs = 10_000;
const maxWaitMs = 120_000;
/** The time after which an unanswered call is a sign of an outage, if all calls are faster. */
const silenceMs = 12_000;

/**
 * Creates a circuit breaker, which stops calls to an appliance that does not answer or refuses the
 * key. Waits 10 s between two pings of an appliance that does not answer. After a refused key the
 * wait doubles, up to 2 minutes. Jitter shortens it by up to half.
 */
export function createBreaker({ elapsedNow, random, before }: BreakerParts) {
  const pending = new Set<{ readonly sentAtElapsedMs: number }>();
  let state: BreakerState = 'closed';
  let failures = before === undefined ? 0 : 1;
  let reason = before;
  let refusals = 0;
  let pingAtElapsedMs = 0;
  let slowestMs = 0;

  function open(waitMs: number): void {
    state = 'open';
    pingAtElapsedMs = elapsedNow() + waitMs * (1 - random() / 2);
  }

  return {
    get state(): BreakerState {
      return state;
    },
    /** The reason of the newest failure; undefined after a response. */
    get reason(): FailureReason | undefined {
      return reason;
    },
    /** Milliseconds until the next ping; 0 if one may start. */
    get waitMs(): number {
      return state === 'open' ? Math.max(0, pingAtElapsedMs - elapsedNow()) : 0;
    },
    /** How long the slowest of the last calls took. */
    get slowestMs(): number {
      return slowestMs;
    },
    /** False after a failure until the next response, and while a call waits far longer than others. */
    get callsSucceed(): boolean {
      const lateAfterMs = Math.max(silenceMs, 1.5 * slowestMs);
      const isLate = [...pending].some(({ sentAtElapsedMs }) => elapsedNow() - sentAtElapsedMs >= lateAfterMs);
      return state === 'closed' && failures === 0 && !isLate;
    },
    /** Returns true if a call may start now. In half-open one may, and its outcome decides. */
    admit(): boolean {
      if (state === 'closed') return true;
      if (state === 'half_open' || elapsedNow() < pingAtElapsedMs) return false;
      state = 'half_open';
      return true;
    },
    /** Records that a call was sent; returns a function for its end. */
    startCall(): () => void {
      const call = { sentAtElapsedMs: elapsedNow() };
      pending.add(call);
      return () => void pending.delete(call);
    },
    recordResponse(): void {
      for (const { sentAtElapsedMs } of pending) slowestMs = Math.max(elapsedNow() - sentAtElapsedMs, 0.9 * slowestMs);
      state = 'closed';
      reason = undefined;
      failures = 0;
      refusals = 0;
    },
    /** Records a transport failure; the third in a row opens the breaker. */
    recordFailure(cause: FailureReason): void {
      reason = cause;
      failures += 1;
      if (state === 'half_open' || (state === 'closed' && failures >= failuresToOpen)) open(pingEveryMs);
    },
    /** Opens at once, because further tries can lock an account. */
    recordRefusedKey(): void {
      reason = 'unauthorized';
      failures += 1;
      if (state !== 'open') open(Math.min(pingEveryMs * 2 ** refusals, maxWaitMs));
      refusals += 1;
    },
  };
}
