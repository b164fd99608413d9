/** Formats `Nov  6 09:30:12 2026 GMT`, the date of certificates and log files. */
export function certificateDate(ms: number): string {
  return `${partsOf(ms).date} GMT`;
}

/**
 * Formats `Fri Nov  6 09:30:12 2026`, the appliance's local time without its zone; the simulated
 * one is in UTC.
 */
export function systemDate(ms: number): string {
  const { weekday, date } = partsOf(ms);
  return `${weekday} ${date}`;
}

/** Formats `2026-11-06  03:00:01 UTC`, with two spaces. */
export function backupDate(ms: number): string {
  const [date = '', time = ''] = new Date(ms).toISOString().slice(0, 19).split('T');
  return `${date}  ${time} UTC`;
}

function partsOf(ms: number) {
  const [weekday, day = '', month, year, clock] = new Date(ms).toUTCString().split(/,? /);
  return { weekday, date: `${month} ${day.replace(/^0/, ' ')} ${clock} ${year}` };
}
