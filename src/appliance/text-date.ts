const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const clock = String.raw`(?<hour>\d\d):(?<minute>\d\d)`;
const offset = String.raw`(?<zone>GMT|UTC|UT|Z|[+-]\d\d:?\d\d)`;

/** Forms of a date that name one instant: not one without a zone, or with 3/4 for a day. */
const forms: readonly RegExp[] = [
  // Certificates of the appliance: `Nov  6 00:00:00 2025 GMT`.
  new RegExp(`^(?<name>[A-Z][a-z]{2}) +(?<day>\\d{1,2}) ${clock}:(?<second>\\d\\d) (?<year>\\d{4}) ${offset}$`),
  // ISO 8601, and its backups: `2026-11-06  03:00:01 UTC`.
  new RegExp(
    `^(?<year>\\d{4})-(?<month>\\d\\d)-(?<day>\\d\\d)(?:T| +)${clock}:(?<second>\\d\\d)(?:[.,]\\d+)? *${offset}$`,
  ),
  // RFC 5322: `Thu, 06 Nov 2025 00:00:00 +0100`.
  new RegExp(
    `^(?:[A-Z][a-z]{2}, *)?(?<day>\\d{1,2}) (?<name>[A-Z][a-z]{2}) (?<year>\\d{4}) ${clock}(?::(?<second>\\d\\d))? ${offset}$`,
  ),
  // GeneralizedTime and UTCTime of X.509: `20251106000000Z` and `251106000000Z`.
  new RegExp(
    `^(?<year>\\d{4}|\\d{2})(?<month>\\d\\d)(?<day>\\d\\d)(?<hour>\\d\\d)(?<minute>\\d\\d)(?<second>\\d\\d)${offset}$`,
  ),
];

/** Seconds of the years 2001 to 2286; shorter and longer numbers may be something else. */
const unixSeconds = /^[1-9]\d{9}$/;

/**
 * Returns the Unix seconds of a date in a form that appliances and their tools write
 * (docs/api.md §3.11 and §3.12). Undefined for anything else: `NA` of a signing request, `-` of an
 * unreadable file, a date without a zone, a zone by name, a day that the month does not have. The
 * lenient parsers of the platform accept some of those.
 */
export function dateToSeconds(written: string): number | undefined {
  const text = written.trim();
  if (unixSeconds.test(text)) return Number(text);
  for (const form of forms) {
    const { groups } = form.exec(text) ?? {};
    if (groups) return instantOf(groups);
  }
  return undefined;
}

function instantOf(groups: Readonly<Record<string, string | undefined>>): number | undefined {
  const { name, month, day = '', hour = '', minute = '', second = '00', zone = '' } = groups;
  const monthNumber = name === undefined ? month : String(months.indexOf(name) + 1);
  const date = [fullYear(groups.year ?? ''), monthNumber, day].map((part) => (part ?? '').padStart(2, '0')).join('-');
  // A leap second is the first second of the next minute to clocks that do not have it.
  const isLeap = second === '60';
  const iso = `${date}T${hour}:${minute}:${isLeap ? '59' : second}`;
  const ms = Date.parse(`${iso}Z`);
  // 31 April becomes 1 May: a date that does not read back as written does not exist.
  if (!Number.isFinite(ms) || !new Date(ms).toISOString().startsWith(iso)) return undefined;
  const ahead = offsetSeconds(zone);
  return ahead === undefined ? undefined : ms / 1_000 + (isLeap ? 1 : 0) - ahead;
}

function fullYear(year: string): string {
  if (year.length === 4) return year;
  return Number(year) >= 50 ? `19${year}` : `20${year}`;
}

/** Returns how far a zone is ahead of UTC; undefined for an offset that no zone has. */
function offsetSeconds(zone: string): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  if (Number(hours) > 14 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600 + Number(minutes) * 60);
}
