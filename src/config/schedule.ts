import { type CronFieldError, parse, validateDetailed } from 'node-cron';

import type { Parsed } from '../lib/check.ts';

/** Parses a node-cron expression of six fields, seconds first. */
export function schedule(text: string): Parsed<string> {
  const fields = text.trim().split(/\s+/);
  const form = 'must have six fields: second, minute, hour, day of month, month, day of week';
  if (fields.length === 5) return { problem: `${form}. Put the second first: "0 ${fields.join(' ')}"` };
  if (fields.length !== 6) return { problem: `${form}, such as "*/30 * * * * *" for every 30 seconds` };
  const expression = fields.join(' ');
  const { errors } = validateDetailed(expression);
  if (errors.length === 0) return { value: expression };
  return { problem: errors.map(wrongField).join(', ') };
}

/** Returns true for a schedule that names one second of a minute. */
export function isAtMostOncePerMinute(expression: string): boolean {
  return parse(expression).second.length === 1;
}

/**
 * Returns the longest time between two runs on days on which the schedule runs, midnight included.
 * Days without runs make the real gap longer, so this is a lower bound.
 */
export function maxGapMs(expression: string): number {
  const { second, minute, hour } = parse(expression);
  const { first, last, gap } = [second, minute, hour].reduce<Runs>(
    ({ first, last, gap, unit }, values) => {
      const sorted = values.toSorted((one, other) => one - other);
      const between = sorted.slice(1).map((value, index) => (value - (sorted[index] ?? 0)) * unit - (last - first));
      return {
        first: (sorted[0] ?? 0) * unit + first,
        last: (sorted.at(-1) ?? 0) * unit + last,
        gap: Math.max(gap, ...between),
        unit: unit * 60,
      };
    },
    { first: 0, last: 0, gap: 0, unit: 1 },
  );
  return Math.max(gap, 86_400 - last + first) * 1_000;
}

/**
 * Seconds into a minute, an hour, a day: its first and last run, and the longest gap between two.
 */
interface Runs {
  readonly first: number;
  readonly last: number;
  readonly gap: number;
  readonly unit: number;
}

function wrongField({ field, value }: CronFieldError): string {
  if (field === 'expression') return 'holds a character that means nothing in a schedule; write digits, * , - and /';
  return `"${value}" cannot be its ${field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}
