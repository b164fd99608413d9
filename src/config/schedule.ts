import { type CronFieldError, parse, validateDetailed } from 'node-cron';
import type { Parsed } from '../lib/check.ts';

/** Parses a node-cron expression of six fields, seconds first. */
export function schedule(text: string): Parsed<string> {
  const fields = text.trim().split(/\s+/);
  const form = 'must have six fields: second, minute, hour, day of month, month, day of week';
  if (fields.length === 5) return { problem: `${form}. Put the second first: "0 ${fields.join(' ')}"` };
  if (fields.length !== 6) return { problem: `${form}, such as "*/30 * * * * *" for every 30 seconds` };
  const expression = fields.join(' ');
  // node-cron lists all numbers of a range before it looks whether they fit.
  if (/-\d{3}/.test(expression)) return { problem: 'holds a range beyond what any field has; none goes beyond 59' };
  const { errors } = validateDetailed(expression);
  if (errors.length === 0) return { value: expression };
  return { problem: errors.map(wrongField).join(', ') };
}

/** Returns true for a schedule that names one second of a minute. */
export function isAtMostOncePerMinute(expression: string): boolean {
  return parse(expression).second.length === 1;
}

function wrongField({ field, value }: CronFieldError): string {
  if (field === 'expression') return 'holds a character that means nothing in a schedule; write digits, * , - and /';
  return `"${value}" cannot be its ${field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}
