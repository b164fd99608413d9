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
  const runs = hour
    .flatMap((hours) => minute.flatMap((minutes) => second.map((seconds) => (hours * 60 + minutes) * 60 + seconds)))
    .toSorted((one, other) => one - other);
  // The last run of the day before.
  let previous = (runs.at(-1) ?? 0) - 86_400;
  let gap = 0;
  for (const run of runs) {
    gap = Math.max(gap, run - previous);
    previous = run;
  }
  return gap * 1_000;
}

function wrongField({ field, value }: CronFieldError): string {
  if (field === 'expression') return 'holds a character that means nothing in a schedule; write digits, * , - and /';
  return `"${value}" cannot be its ${field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}
