/** Something that has come true for a new user, and when. */
export interface Step {
  readonly what: string;
  /** Since the step before. */
  readonly seconds: number;
  /** Since the beginning. */
  readonly total: number;
}

/** Calls `tell` with each step as it is done. */
export function createStopwatch(tell: (step: Step) => void): (what: string) => void {
  const beganAt = performance.now();
  let before = beganAt;
  return (what) => {
    const now = performance.now();
    tell({ what, seconds: (now - before) / 1_000, total: (now - beganAt) / 1_000 });
    before = now;
  };
}

/** A step as a line of a table. */
export function stepLine({ what, seconds, total }: Step): string {
  return `${seconds.toFixed(1).padStart(7)} s ${total.toFixed(1).padStart(7)} s  ${what}`;
}
