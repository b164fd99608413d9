import type * as fc from 'fast-check';

/**
 * Cases of one run of the suites in test/fuzz/, cheap ones more often.
 */
const cases = {
  replies: 34_000,
  wholePaths: 50,
  histories: 10,
  words: 10_000,
  hours: 20,
} as const;

/**
 * How a fuzzing property runs: another seed each time, which fast-check prints with the smallest
 * case that fails. FUZZ_SEED repeats a run; FUZZ_TIMES multiplies its cases.
 */
export function fuzzing(kind: keyof typeof cases): fc.Parameters<unknown> {
  const { FUZZ_SEED: seed, FUZZ_TIMES: times = '1' } = process.env;
  return { numRuns: Math.ceil(cases[kind] * Number(times)), ...(seed !== undefined && { seed: Number(seed) }) };
}
