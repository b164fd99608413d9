/** A clock on which a minute passes between two looks: refusals are bounded by the minute. */
export function minutePerLook(): () => number {
  let ms = Date.now();
  return () => (ms += 60_000);
}
