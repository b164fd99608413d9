/** Takes all measures in each round, so that what disturbs the machine disturbs all of them; resolves with their medians. */
export async function alternate<const Measures extends readonly (() => Promise<number>)[]>(
  rounds: number,
  measures: Measures,
): Promise<{ readonly [Index in keyof Measures]: number }> {
  const taken = await inTurn(rounds, measures);
  return taken.map((values) => percentile(values, 0.5)) as { readonly [Index in keyof Measures]: number };
}

/**
 * As {@link alternate}; resolves with all that each of them took, after the first rounds, which only warm up. The order is another
 * one each time: none is always the one that has to wait while what another left behind is cleared away.
 */
export async function inTurn<Value>(
  rounds: number,
  measures: readonly (() => Promise<Value>)[],
): Promise<readonly (readonly Value[])[]> {
  const taken = measures.map((): Value[] => []);
  const warmUps = Math.ceil(rounds / 10);
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const { index, measure } of shuffled(measures.map((each, at) => ({ index: at, measure: each })))) {
      const value = await measure();
      if (round >= warmUps) taken[index]?.push(value);
    }
  }
  return taken;
}

function shuffled<Value>(values: readonly Value[]): readonly Value[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

/** Milliseconds that some work takes; a promise is waited for. */
export async function timed(work: () => unknown): Promise<number> {
  const startedAtMs = performance.now();
  const result = work();
  if (result instanceof Promise) await result;
  return performance.now() - startedAtMs;
}

/** The value below which that share of them lies; 0.5 is the median. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}
