/**
 * Returns milliseconds of a monotonic clock with no particular origin. Use it for waits and
 * durations: a change of the system clock must neither stop polling nor look like an hour of work.
 */
export function steadyNow(): number {
  return performance.now();
}
