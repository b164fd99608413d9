export const breakerStates = ['closed', 'open', 'half_open'] as const;

export type BreakerState = (typeof breakerStates)[number];

/** A circuit breaker: stops calls to an appliance that does not answer or refuses the key. */
export interface Breaker {
  readonly state: BreakerState;
  /** Returns true if a run may start now. In half-open exactly one may, and its outcome decides. */
  admit(): boolean;
  /** Records an answer of the appliance, whatever it was. */
  succeeded(): void;
  /** Records a transport failure; the third in a row opens the breaker. */
  failed(): void;
  /** Records a refused key: opens at once, because further tries can lock an account. */
  rejected(): void;
  /** Milliseconds until the next probe; 0 if one may start. */
  readonly waitMs: number;
}

export interface BreakerOptions {
  readonly now: () => number;
  readonly random: () => number;
}

const failuresToOpen = 3;
const firstWaitMs = 10_000;
const maxWaitMs = 120_000;

/**
 * Waits 10 s after opening, doubled with each failed probe up to 2 minutes; jitter shortens it by
 * up to half.
 */
export function createBreaker({ now, random }: BreakerOptions): Breaker {
  let state: BreakerState = 'closed';
  let failures = 0;
  let openings = 0;
  let probeAt = 0;

  function open(): void {
    state = 'open';
    const wait = Math.min(firstWaitMs * 2 ** openings, maxWaitMs);
    probeAt = now() + wait * (1 - random() / 2);
    openings += 1;
  }

  function untilProbeMs(): number {
    const wait = probeAt - now();
    // A longer wait means that the system clock was set back.
    return wait > maxWaitMs ? 0 : Math.max(0, wait);
  }

  return {
    get state() {
      return state;
    },
    get waitMs() {
      return state === 'open' ? untilProbeMs() : 0;
    },
    admit() {
      if (state === 'closed') return true;
      if (state === 'half_open' || untilProbeMs() > 0) return false;
      state = 'half_open';
      return true;
    },
    succeeded() {
      state = 'closed';
      failures = 0;
      openings = 0;
    },
    failed() {
      failures += 1;
      if (state === 'half_open' || (state === 'closed' && failures >= failuresToOpen)) open();
    },
    rejected() {
      if (state !== 'open') open();
    },
  };
}
