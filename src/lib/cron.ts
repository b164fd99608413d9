import { Cron, CronPattern } from 'croner';

/** The longest offset and random delay of a run: a weekly one is not spread over the week. */
export const maxDelayMs = 600_000;

export interface MatchParts {
  /** Unix milliseconds after which matches are wanted. */
  readonly afterMs: number;
  /** The zone of fixed hours; without it, that of the machine. */
  readonly zone?: string;
}

/**
 * Returns the next matches of a cron expression of six fields, in Unix milliseconds. An expression
 * that runs at every hour is in UTC. One with fixed hours is local time: each of its times matches
 * once a day, at the first of two, or just after a gap. Empty if no day matches.
 */
export function nextMatches(expression: string, count: number, { afterMs, zone }: MatchParts): readonly number[] {
  const cron = new Cron(expression, {
    mode: '6-part',
    domAndDow: true,
    fixedTimeRule: 'no-wildcard',
    paused: true,
    ...(runsEveryHour(expression) ? { timezone: 'UTC' } : zone !== undefined && { timezone: zone }),
  });
  return cron.nextRuns(count, new Date(afterMs)).map((date) => date.getTime());
}

/** The seconds, minutes and hours that an expression names; throws where it is none. */
export function timesOf(expression: string): Readonly<Record<'seconds' | 'minutes' | 'hours', readonly number[]>> {
  const { second, minute, hour } = new CronPattern(expression, undefined, { mode: '6-part' });
  return { seconds: named(second), minutes: named(minute), hours: named(hour) };
}

function named(marks: readonly number[]): readonly number[] {
  return marks.flatMap((mark, index) => (mark ? [index] : []));
}

function runsEveryHour(expression: string): boolean {
  return timesOf(expression).hours.length === 24;
}
