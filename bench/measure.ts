/** Takes each measure in turn, so that what disturbs the machine disturbs all of them; resolves with their medians. */
export async function alternate<const Measures extends readonly (() => Promise<number>)[]>(
  rounds: number,
  measures: Measures,
): Promise<{ readonly [Index in keyof Measures]: number }> {
  const taken = measures.map((): number[] => []);
  const warmUps = Math.ceil(rounds / 10);
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const [index, measure] of measures.entries()) {
      const value = await measure();
      if (round >= warmUps) taken[index]?.push(value);
    }
  }
  return taken.map(median) as { readonly [Index in keyof Measures]: number };
}

/** Milliseconds that some work takes; a promise is waited for. */
export async function timed(work: () => unknown): Promise<number> {
  const startedAtMs = performance.now();
  const result = work();
  if (result instanceof Promise) await result;
  return performance.now() - startedAtMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
