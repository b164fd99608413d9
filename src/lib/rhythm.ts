/** When something comes that comes at even intervals, as a scrape does. */
export interface Rhythm {
  /** It came. */
  beat(): void;
  /** Whether it should come within so many milliseconds, or should have come. Nothing is expected of what did not come twice. */
  isExpectedWithin(ms: number): boolean;
}

/** Of the longer one of the last two gaps: who is as late as that has gone, or begins anew. */
const lateness = 1.5;

/** `forMs` after it came last it is expected no more, or sooner if it is late. `now` in milliseconds, on any clock that does not go back. */
export function createRhythm(forMs: number, now: () => number): Rhythm {
  let lastMs = Number.NEGATIVE_INFINITY;
  let gaps: readonly [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  return {
    beat() {
      const nowMs = now();
      gaps = [gaps[1], nowMs - lastMs];
      lastMs = nowMs;
    },
    isExpectedWithin(ms) {
      const waitedMs = now() - lastMs;
      // The shorter one: of two who ask by turns, one comes sooner after the other than the other after it.
      return waitedMs + ms >= Math.min(...gaps) && waitedMs < Math.min(forMs, lateness * Math.max(...gaps));
    },
  };
}
