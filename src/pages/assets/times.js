// Shows times in the zone of the reader, and ages that count on.

/** The times of titles that are written already: formatting one is slow. */
const titleWrittenFor = new WeakMap();
const exact = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'long' });

/**
 * Updates all times within an element; `nowMs` is by the clock of the exporter.
 * @param {ParentNode} within
 * @param {number} nowMs
 */
export function updateTimes(within, nowMs) {
  for (const element of within.querySelectorAll('time[data-show]')) {
    if (!(element instanceof HTMLTimeElement)) continue;
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    const isAge = element.dataset.show === 'age';
    if (isAge) setText(element, span(nowMs - date.getTime()));
    if (titleWrittenFor.get(element) === element.dateTime) continue;
    titleWrittenFor.set(element, element.dateTime);
    if (!isAge) setText(element, clock(date));
    element.title = exact.format(date);
  }
}

/**
 * Returns the server's clock minus ours, by its header Date. The header has whole seconds: within one,
 * the difference stays as it was.
 * @param {string | null} date
 * @param {number} beforeMs
 */
export function clockOffset(date, beforeMs) {
  const differenceMs = Date.parse(date ?? '') - Date.now();
  return Math.abs(differenceMs - beforeMs) > 1_500 ? differenceMs : beforeMs;
}

/**
 * @param {Date} date
 * @param {Intl.DateTimeFormatOptions} [more]
 */
export function timeOfDay(date, more = {}) {
  return date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false, ...more });
}

/**
 * Returns a time, with the day unless it is today, and with the year unless it is this year.
 * @param {Date} date
 * @param {Date} [now]
 */
export function clock(date, now = new Date()) {
  if (date.toDateString() === now.toDateString()) return timeOfDay(date, { second: '2-digit' });
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short', year })} ${timeOfDay(date)}`;
}

/**
 * @param {number} ms
 */
export function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/**
 * @param {Element} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
