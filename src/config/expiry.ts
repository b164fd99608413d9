import type { Outcome } from './problems.ts';

/** Unix milliseconds of a day, at its start in UTC, or of a time that names its zone. */
export function expiry(text: string): Outcome<number> {
  const [, day] =
    /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (day === undefined) {
    return {
      problem:
        'must be a day such as 2027-01-01, which stands for its start in UTC, or a time with its zone such as 2027-01-01T18:00:00+01:00; leave the key out for a token that does not expire',
    };
  }
  const atMs = Date.parse(text);
  return exists(day) && !Number.isNaN(atMs) ? { value: atMs } : { problem: 'is a day or a time that does not exist' };
}

/** The platform takes 2027-02-30 for the second of March. */
function exists(day: string): boolean {
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
