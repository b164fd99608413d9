const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Returns the Unix seconds of a certificate date, `Mon D HH:MM:SS YYYY GMT` with the day padded to
 * two columns by a space (docs/api.md §3.11); a day without padding, or padded by a zero, is
 * accepted too. Undefined for anything else: `NA` of a CSR, `-` of an unreadable file, another
 * zone, a day that the month does not have. The lenient parsers of the platform accept some of
 * those.
 */
export function certificateDateToSeconds(text: string): number | undefined {
  const match = /^([A-Z][a-z]{2}) ( \d|\d{1,2}) (\d{2}:\d{2}:\d{2}) (\d{4}) GMT$/.exec(text);
  if (!match) return undefined;
  const [, month = '', day = '', time = '', year = ''] = match;
  const monthNumber = String(months.indexOf(month) + 1);
  return utcSeconds(`${year}-${monthNumber.padStart(2, '0')}-${day.trim().padStart(2, '0')}T${time}`);
}

/**
 * Returns the Unix seconds of a backup date, `2026-11-06  03:00:01 UTC` with two spaces
 * (docs/api.md §3.12); undefined for anything else.
 */
export function backupDateToSeconds(text: string): number | undefined {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2}) +(\d{2}:\d{2}:\d{2}) UTC$/.exec(text) ?? [];
  return day && time ? utcSeconds(`${day}T${time}`) : undefined;
}

/** Returns the Unix seconds of `YYYY-MM-DDTHH:MM:SS` in UTC. */
function utcSeconds(iso: string): number | undefined {
  const ms = Date.parse(`${iso}Z`);
  // 31 April becomes 1 May: a date that does not read back as written does not exist.
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(iso) ? ms / 1_000 : undefined;
}
