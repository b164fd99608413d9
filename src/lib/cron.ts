import { createTask, parse } from 'node-cron';
import { dayMs } from './time.ts';

const everyHour = 24;

/** The longest offset and random delay of a run: a weekly one is not spread over the week. */
export const maxDelayMs = 600_000;

/**
 * Returns the next matches of a node-cron expression of six fields, in Unix milliseconds, after the
 * present time. An expression that runs at every hour is in UTC, because at the end of summer time
 * a local hour comes twice, and node-cron leaves out the second one. One with fixed hours is local
 * time: each of its times matches once a day, at the second of two, or just after a gap.
 */
export function nextMatches(expression: string, count: number, given?: string): readonly number[] {
  // No clock goes forward there, and to ask for its offsets takes long.
  if (given === 'UTC' || parse(expression).hour.length === everyHour) return matchesIn('UTC', expression, count);
  const zone = given ?? localZone();
  const skipped = matchesIn(offsetOf(zone, Date.now()), expression, count).filter((time) => isSkipped(zone, time));
  const times = new Set([...matchesIn(zone, expression, count), ...skipped]);
  return [...times].toSorted((one, other) => one - other).slice(0, count);
}

/** Returns false for an expression that no day fits, such as one for the second Monday that is a 1st. */
export function isEverDue(expression: string): boolean {
  try {
    return nextMatches(expression, 1, 'UTC').length > 0;
  } catch {
    // node-cron looks some decades ahead.
    return false;
  }
}

/** The times between the runs of a schedule. */
interface Gaps {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** Enough days with runs to find the longest gap of a weekly and of a monthly schedule. */
const checkedDays = 32;

/** Returns the gaps of an expression, on one day and from one day with runs to the next. */
export function gapsOf(expression: string): Gaps {
  const { second, minute, hour } = parse(expression);
  const ofDay = hour
    .flatMap((hours) => minute.flatMap((minutes) => second.map((seconds) => (hours * 60 + minutes) * 60 + seconds)))
    .map((seconds) => seconds * 1_000)
    .toSorted((one, other) => one - other);
  const [firstMs = 0, lastMs = firstMs] = [ofDay.at(0), ofDay.at(-1)];
  const day = expression.split(' ').slice(3).join(' ');
  // node-cron takes long to list days, and most schedules run on each.
  const days = day === '* * *' ? [0, dayMs] : nextMatches(`0 0 0 ${day}`, checkedDays, 'UTC');
  const gaps = [...gapsBetween(ofDay), ...gapsBetween(days).map((gapMs) => gapMs - (lastMs - firstMs))];
  return {
    shortestMs: gaps.reduce((least, gapMs) => Math.min(least, gapMs), Number.POSITIVE_INFINITY),
    longestMs: gaps.reduce((most, gapMs) => Math.max(most, gapMs), 0),
  };
}

function gapsBetween(times: readonly number[]): readonly number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

function localZone(): string {
  return isZoneKnown() ? new Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC';
}

/** Returns false where TZ is empty, or names no zone: then the local time is UTC, as for `date`. */
export function isZoneKnown(): boolean {
  // Undefined for some texts, contrary to its type.
  const { timeZone }: { readonly timeZone?: string } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone !== undefined && timeZone !== 'Etc/Unknown';
}

function matchesIn(timezone: string, expression: string, count: number): readonly number[] {
  const task = createTask(expression, () => undefined, { timezone });
  const times = task.getNextRuns(count).map((date) => date.getTime());
  void task.destroy();
  return times;
}

/**
 * Returns true for a local time that no clock shows, because the clocks go forward over it. `time`
 * was computed with the offset of the present.
 */
function isSkipped(zone: string, time: number): boolean {
  const local = time + offsetMs(offsetOf(zone, Date.now()));
  const offsets = [local - dayMs, local + dayMs].map((near) => offsetMs(offsetOf(zone, near)));
  return offsets.every((offset) => offsetMs(offsetOf(zone, local - offset)) !== offset);
}

/** Returns the offset of a zone at a moment as the name of a zone of its own, such as `+10:30`. */
function offsetOf(timeZone: string, atMs: number): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).formatToParts(atMs);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '');
  return name || '+00:00';
}

function offsetMs(name: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
