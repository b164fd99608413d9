import type { Parsed } from '../lib/check.ts';
import { nextMatches, timesOf } from '../lib/cron.ts';

const fieldNames = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week'] as const;

/** Parses a cron expression of six fields, seconds first. */
export function schedule(text: string): Parsed<string> {
  const fields = text.trim().split(/\s+/);
  const form = `must have six fields: ${fieldNames.join(', ')}`;
  if (fields.length === 5) return { problem: `${form}. Put the second first: "0 ${fields.join(' ')}"` };
  if (fields.length !== 6) return { problem: `${form}, such as "*/30 * * * * *" for every 30 seconds` };
  const expression = fields.join(' ');
  if (/[^\da-z*,/ -]/i.test(expression))
    return { problem: 'holds a character that means nothing in a schedule; write digits, * , - and /' };
  const wrong = fields.flatMap((field, index) => (isField(field, index) ? [] : [[field, fieldNames[index]] as const]));
  if (wrong.length === 0 && hasMatch(expression)) return { value: expression };
  // Each field is right and no day has all three.
  const named = wrong.length > 0 ? wrong : [[fields[3], fieldNames[3]] as const];
  return { problem: named.map(([field, name]) => `"${field}" cannot be its ${name}`).join(', ') };
}

/** Returns true if a field is right beside fields that name everything. */
function isField(field: string, index: number): boolean {
  return isExpression(fieldNames.map((_, place) => (place === index ? field : '*')).join(' '));
}

function isExpression(text: string): boolean {
  try {
    timesOf(text);
    return true;
  } catch {
    return false;
  }
}

/** Any year with its leap day will do. */
const leapYearMs = Date.UTC(2027, 11, 31);

function hasMatch(expression: string): boolean {
  return nextMatches(expression, 1, { afterMs: leapYearMs, zone: 'UTC' }).length > 0;
}

/** Returns true for a schedule that names one second of a minute. */
export function isAtMostOncePerMinute(expression: string): boolean {
  return timesOf(expression).seconds.length === 1;
}

const dayMs = 86_400_000;
/** Enough days with runs to find the longest gap of a weekly and of a monthly schedule. */
const checkedDays = 32;

/** Returns the longest time between two runs, on one day or from one day with runs to the next. */
export function maxGapMs(expression: string): number {
  const { seconds, minutes, hours } = timesOf(expression);
  const ofDay = hours
    .flatMap((hour) => minutes.flatMap((minute) => seconds.map((second) => (hour * 60 + minute) * 60 + second)))
    .map((seconds) => seconds * 1_000)
    .toSorted((one, other) => one - other);
  const [firstMs = 0, lastMs = firstMs] = [ofDay.at(0), ofDay.at(-1)];
  const days = nextMatches(`0 0 0 ${expression.split(' ').slice(3).join(' ')}`, checkedDays, {
    afterMs: leapYearMs,
    zone: 'UTC',
  });
  return Math.max(largestGap(ofDay), (largestGap(days) || dayMs) - (lastMs - firstMs));
}

function largestGap(times: readonly number[]): number {
  return Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? 0)));
}
