const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Returns the Unix seconds of a certificate date, `Mon D HH:MM:SS YYYY GMT` with the day padded to
 * two columns by a space (docs/api.md §3.11); a day without padding, or padded by a zero, is
 * accepted too. Undefined for anything else: `NA` of a CSR, `-` of an unreadable file, another
 * zone, a day that the month does not have. The lenient parsers of the platform accept some of
 * those.
 */
export function certificateDateToSeconds(text: string): number | undefined {
  const match = /^([A-Z][a-z]{2}) ( \d|\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4}) GMT$/.exec(text);
  if (!match) return undefined;
  const [, month, day, hour, minute, second, year] = match;
  return utcSeconds(
    Number(year),
    months.indexOf(month ?? ''),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
}

/**
 * Returns the Unix seconds of a backup date, `2026-11-06  03:00:01 UTC` with two spaces
 * (docs/api.md §3.12); undefined for anything else.
 */
export function backupDateToSeconds(text: string): number | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2}) +(\d{2}):(\d{2}):(\d{2}) UTC$/.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  return utcSeconds(year, month - 1, day, hour, minute, second);
}

function utcSeconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  if (month < 0 || month > 11 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, second);
  // 31 April becomes 1 May: a date that does not read back as written does not exist.
  return date.getUTCDate() === day && date.getUTCMonth() === month ? date.getTime() / 1_000 : undefined;
}
