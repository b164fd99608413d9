import type * as fc from 'fast-check';

/**
 * Cases of one run of the suites in test/fuzz/, cheap ones more often; a hundred thousand in all.
 */
const cases = {
  certificateDates: 15_000,
  damagedDates: 15_000,
  filledRoutes: 15_000,
  gatewayPaths: 14_000,
  routesOnTheWire: 1_000,
  replies: 34_000,
  labels: 4_000,
  pagesOfNames: 1_000,
  configurationsByLine: 250,
  configurationsByValue: 250,
  appliances: 600,
  wholePaths: 50,
  histories: 10,
} as const;

/**
 * How a fuzzing property runs: another seed each time, which fast-check prints with the smallest
 * case that fails. FUZZ_SEED repeats a run; FUZZ_TIMES multiplies its cases.
 */
export function fuzzing(kind: keyof typeof cases): fc.Parameters<unknown> {
  const { FUZZ_SEED: seed, FUZZ_TIMES: times = '1' } = process.env;
  return { numRuns: Math.ceil(cases[kind] * Number(times)), ...(seed !== undefined && { seed: Number(seed) }) };
}
