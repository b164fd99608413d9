/** What was asked for lately, and so will be asked for again soon: worth having ready. */
export interface Lately<What> {
  asked(what: What): void;
  has(what: What): boolean;
}

/** `now` in milliseconds, on any clock that does not go back. */
export function createLately<What>(forMs: number, now: () => number): Lately<What> {
  const untilMs = new Map<What, number>();
  return {
    asked: (what) => void untilMs.set(what, now() + forMs),
    has: (what) => now() < (untilMs.get(what) ?? Number.NEGATIVE_INFINITY),
  };
}
