import { readdirSync, readFileSync } from 'node:fs';

/**
 * Takes all measures in each round, so that what disturbs the machine disturbs all of them;
 * resolves with their medians.
 */
export async function medians<const Measures extends readonly (() => Promise<number>)[]>(
  rounds: number,
  measures: Measures,
): Promise<{ readonly [Index in keyof Measures]: number }> {
  const taken = measures.map((): number[] => []);
  const warmUps = Math.ceil(rounds / 10);
  for (let round = 0; round < warmUps + rounds; round += 1) {
    // In another order each time: none always waits while what another left behind is cleared away.
    for (const { index, measure } of shuffled(measures.map((each, at) => ({ index: at, measure: each })))) {
      const value = await measure();
      if (round >= warmUps) taken[index]?.push(value);
    }
  }
  return taken.map((values) => percentile(values, 0.5)) as { readonly [Index in keyof Measures]: number };
}

/** Milliseconds that some work takes; a promise is waited for. */
export async function timed(work: () => unknown): Promise<number> {
  const startedAtMs = performance.now();
  const result = work();
  if (result instanceof Promise) await result;
  return performance.now() - startedAtMs;
}

/** Returns the value below which that ratio of them lies; 0.5 is the median. */
export function percentile(values: readonly number[], ratio: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * ratio)] ?? Number.NaN;
}

function shuffled<Value>(values: readonly Value[]): readonly Value[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

/** The resources of a process, as the kernel counts them. */
export interface ProcessUsage {
  readonly residentBytes: number;
  readonly maxResidentBytes: number;
  /** Open files and sockets. */
  readonly handles: number;
}

export function usageOf(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
  return {
    residentBytes: bytes('VmRSS'),
    maxResidentBytes: bytes('VmHWM'),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  };
}
