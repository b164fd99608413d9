export const breakerStates = ['closed', 'open', 'half_open'] as const;

export type BreakerState = (typeof breakerStates)[number];

/** Keeps calls away from an appliance that does not answer or refuses the key. */
export interface Breaker {
  readonly state: BreakerState;
  /** True when a run may start now. In half-open exactly one may, and its outcome decides. */
  admit(): boolean;
  /** The appliance answered, whatever the answer was. */
  succeeded(): void;
  /** A transport failure; the third in a row opens. */
  failed(): void;
  /** The key was refused: opens at once, since asking again can lock an account out. */
  rejected(): void;
  /** Milliseconds until a probe is due; 0 when one may start. */
  readonly waitMs: number;
}

export interface BreakerOptions {
  readonly now: () => number;
  readonly random: () => number;
}

const failuresToOpen = 3;
const firstWaitMs = 10_000;
const longestWaitMs = 120_000;

/** Waits 10 s after it opened, then doubles with each failed probe up to 2 minutes; jitter takes up to half off. */
export function createBreaker({ now, random }: BreakerOptions): Breaker {
  let state: BreakerState = 'closed';
  let failures = 0;
  let openings = 0;
  let probeAt = 0;

  function open(): void {
    state = 'open';
    const wait = Math.min(firstWaitMs * 2 ** openings, longestWaitMs);
    probeAt = now() + wait * (1 - random() / 2);
    openings += 1;
  }

  function untilProbeMs(): number {
    const wait = probeAt - now();
    // No wait is that long: the system clock was set back meanwhile.
    return wait > longestWaitMs ? 0 : Math.max(0, wait);
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
