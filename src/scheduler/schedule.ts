import { gapsOf, maxDelayMs, nextMatches } from '../lib/cron.ts';
import { memoize } from '../lib/text.ts';
import { dayMs, steadyNow } from '../lib/time.ts';
import type { Due, Job } from './job.ts';

export type Cron = ReturnType<typeof createCron>;

interface Matches {
  /** The time for which they were computed; the others are Unix milliseconds too. */
  readonly atMs: number;
  readonly last: number | undefined;
  readonly next: number;
  readonly afterNext: number;
}

/** Computes the matches of each cron expression once for all appliances: it takes a millisecond. */
export function createCron() {
  const known = new Map<string, Matches>();

  function matchesOf(expression: string): Matches {
    const nowMs = Date.now();
    const before = known.get(expression);
    if (before && before.atMs <= nowMs && nowMs < before.next) return before;
    const [next = nowMs, afterNext = next] = nextMatches(expression, 2);
    const last = [before?.afterNext, before?.next].find((time) => time !== undefined && time <= nowMs);
    const matches = { atMs: nowMs, last, next, afterNext };
    known.set(expression, matches);
    return matches;
  }

  return {
    /** Returns the newest match that has passed, if it is known, and the next two. */
    matches(expression: string): readonly number[] {
      const { last, next, afterNext } = matchesOf(expression);
      return last === undefined ? [next, afterNext] : [last, next, afterNext];
    },
    intervalMs: memoize(intervalOf),
    /**
     * Returns the milliseconds from the last match to the next one: of a schedule with working
     * hours, many in the evening and few in the day.
     */
    currentGapMs(expression: string): number {
      const { last, next, afterNext } = matchesOf(expression);
      return last === undefined ? afterNext - next : next - last;
    },
  };
}

/** Milliseconds between two matches of an expression: the shortest gap, at most a week. */
export function intervalOf(expression: string): number {
  return Math.min(gapsOf(expression).shortestMs, 7 * dayMs);
}

/**
 * Returns when the run after one that begins now is due: at the job's offset behind a match of its
 * schedule. A run that comes late, or out of schedule, serves the matches of half an interval.
 */
export function nextDue(
  { intervalMs, offsetMs, schedule }: Job,
  cron: Cron,
  { jitterRatio, random }: { readonly jitterRatio: number; readonly random: () => number },
): Due {
  const delayMs = offsetMs + random() * Math.min(jitterRatio * intervalMs, maxDelayMs);
  const nowMs = Date.now();
  const waits = cron.matches(schedule).map((match) => match + delayMs - nowMs);
  const waitMs = waits.find((wait) => wait >= intervalMs / 2) ?? Math.max(...waits);
  return { steadyMs: steadyNow() + waitMs, unixMs: nowMs + waitMs };
}
