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
export function nextMatches(expression: string, count: number, zone = localZone()): readonly number[] {
  // No clock goes forward there, and to ask for its offsets takes long.
  if (zone === 'UTC' || parse(expression).hour.length === everyHour) return matchesIn('UTC', expression, count);
  const skipped = matchesIn(offsetOf(zone, Date.now()), expression, count).filter((time) => isSkipped(zone, time));
  const times = new Set([...matchesIn(zone, expression, count), ...skipped]);
  return [...times].toSorted((one, other) => one - other).slice(0, count);
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
