/** The minimum rate of a transfer: that of a slow mobile line. */
export const minBytesPerSecond = 16_384;
/** A transfer that is fast is looked at so often. */
const maxWaitMs = 60_000;
/** The longest pause of a transfer that is fast: it may begin right after a look at it. */
export const maxPauseMs = 2 * maxWaitMs;

/** When the minimum rate applies to a transfer. */
export interface Pace {
  /** The time without any byte at its beginning. */
  readonly graceMs: number;
  /** Returns the error that ends a slower transfer. */
  readonly tooSlow: () => Error;
}

/**
 * Watches a transfer by the number of its bytes so far, and calls `onSlow` once if it is too slow.
 * Returns a function that ends the watch.
 */
export function watchPace({ graceMs, tooSlow }: Pace, bytes: () => number, onSlow: (error: Error) => void): () => void {
  let seen = bytes();
  let timer = setTimeout(look, graceMs);
  function look(): void {
    const earnedMs = ((bytes() - seen) / minBytesPerSecond) * 1_000;
    seen = bytes();
    if (earnedMs < 1_000) onSlow(tooSlow());
    else timer = setTimeout(look, Math.min(earnedMs, maxWaitMs));
  }
  return () => clearTimeout(timer);
}
