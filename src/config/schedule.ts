import { type CronFieldError, parse, validateDetailed } from 'node-cron';
import type { Result } from '../lib/check.ts';
import { isEverDue } from '../lib/cron.ts';

/** The fields of an expression, in its order, and the last value of each. */
const fieldNames = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week'] as const;
const lastValues = [59, 59, 23, 31, 12, 7] as const;

/** Parses a node-cron expression of six fields, seconds first. */
export function schedule(text: string): Result<string> {
  const fields = text.trim().split(/\s+/);
  const form = 'must have six fields: second, minute, hour, day of month, month, day of week';
  if (fields.length === 5) return { error: `${form}. Put the second first: "0 ${fields.join(' ')}"` };
  if (fields.length !== 6) return { error: `${form}, such as "*/30 * * * * *" for every 30 seconds` };
  const expression = fields.join(' ');
  // node-cron lists all numbers of a range before it looks whether they fit.
  if (/-\d{3}/.test(expression)) return { error: 'contains a range that no field allows; the highest value is 59' };
  const { errors } = validateDetailed(expression);
  if (errors.length > 0) return { error: errors.map((error) => wrongField(error, fields)).join(', ') };
  const problem = fields.map(wideStep).find((each) => each !== undefined);
  if (problem !== undefined) return { error: problem };
  // Days by their weeks, and two fields of days, can exclude each other in each month.
  const mayNeverRun = /[#LW]/i.test(expression) || eitherDay(expression) !== undefined;
  if (mayNeverRun && !isEverDue(expression))
    return { error: 'never runs: no date matches its day of month, its month and its day of week' };
  return { value: expression };
}

/**
 * Splits a schedule with a day of month and a day of week in two, one for each: a crontab runs on
 * the days of both, and this program only on days that fit both. Undefined for any other schedule.
 */
export function eitherDay(expression: string): readonly [string, string] | undefined {
  const [second, minute, hour, day = '*', month, weekday = '*'] = expression.split(' ');
  if ([day, weekday].some((each) => /^[*?]$/.test(each))) return undefined;
  return [`${second} ${minute} ${hour} ${day} ${month} *`, `${second} ${minute} ${hour} * ${month} ${weekday}`];
}

/** Returns true for a schedule that names one second of a minute. */
export function isAtMostOncePerMinute(expression: string): boolean {
  return parse(expression).second.length === 1;
}

function wrongField({ field, value, message }: CronFieldError, fields: readonly string[]): string {
  if (field === 'expression') return 'contains a character that has no meaning in a schedule; use digits and * , - /';
  // A day that exists, and not in these months.
  if (message.includes('impossible')) return `no month of "${fields[4]}" has a day "${value}"`;
  return `"${value}" cannot be its ${field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}

/** Returns the error for a step beyond the end of its field, which matches only the first value. */
function wideStep(text: string, index: number): string | undefined {
  const [last = 0, name = ''] = [lastValues[index], fieldNames[index]];
  const step = text
    .split(',')
    .map((part) => part.split('/')[1])
    .find((each) => Number(each) > last);
  if (step === undefined) return undefined;
  return `"${text}" steps by ${step} in its ${name}, whose highest value is ${last}; write the single value that it stands for`;
}
