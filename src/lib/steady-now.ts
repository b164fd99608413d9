/**
 * Milliseconds on a clock that only ever goes forward, at one pace, from no particular moment. Waiting and durations go by
 * it, as timers do: a system clock that is set must neither hold polling up nor look like an hour of work.
 */
export function steadyNow(): number {
  return performance.now();
}
