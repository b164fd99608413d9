import type { SimulatedRequest } from '../../src/simulator/request-log.ts';

/** Milliseconds. */
export interface Ages {
  readonly max: number;
  readonly p99: number;
}

/**
 * How old the newest answer to a path is, second by second. What an answer says may be as old as its question, so that
 * is what the age is counted from.
 */
export function agesOf(requests: readonly SimulatedRequest[], fromMs: number, untilMs: number): Ages {
  const answers = requests.flatMap(({ startedAt, endedAt }) => (endedAt === undefined ? [] : [{ startedAt, endedAt }]));
  const ages: number[] = [];
  let next = 0;
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += 1_000) {
    while ((answers[next]?.endedAt ?? Number.POSITIVE_INFINITY) <= nowMs) next += 1;
    const newest = answers[next - 1];
    if (newest) ages.push(nowMs - newest.startedAt);
  }
  ages.sort((a, b) => a - b);
  return { max: ages.at(-1) ?? Number.NaN, p99: ages[Math.floor(ages.length * 0.99)] ?? Number.NaN };
}
