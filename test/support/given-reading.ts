import type { Reading } from '../../src/state/reading.ts';

/** A reading without its origin, whose data a test adds. */
export const givenReading: Omit<Reading, 'collector' | 'farm'> = {
  data: undefined,
  askedAtElapsedMs: 0,
  maxStaleMs: 60_000,
  lifeMs: 60_000,
  isWhole: true,
  bytes: 0,
  changedAt: undefined,
};
