import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { createTask } from 'node-cron';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { gapsOf, nextMatches } from '../../../src/lib/cron.ts';

afterEach(() => void vi.useRealTimers());

/** Returns the matches from one moment to another, in UTC, each computed at the one before. */
function matchesBetween(expression: string, zone: string, from: string, to: string): readonly string[] {
  const times: string[] = [];
  vi.useFakeTimers({ toFake: ['Date'] });
  for (let time = Date.parse(from); ; ) {
    vi.setSystemTime(time);
    [time = Number.NaN] = nextMatches(expression, 1, zone);
    if (time > Date.parse(to)) return times;
    times.push(new Date(time).toISOString().slice(0, 16));
  }
}

it.each([
  ['', false],
  ['Etc/Unknown', false],
  ['Foo/Bar', false],
  ['Europe/Rome', true],
])('a schedule with a fixed hour runs when TZ is %j, in UTC when that is not a zone', (zone, isKnown) => {
  const script = `
    import { isZoneKnown, nextMatches } from '${new URL('../../../src/lib/cron.ts', import.meta.url).href}';
    const [next] = nextMatches('0 0 3 * * *', 1);
    console.log(isZoneKnown(), new Date(next).toISOString().slice(11, 16));`;

  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { TZ: zone },
  });

  expect(stdout).toMatch(isKnown ? /^true 0[12]:00/ : /^false 03:00/);
});

it.each([
  ['Europe/Rome', 'its hour comes twice', '2026-10-24T12:00Z', ['2026-10-25T01:30', '2026-10-26T01:30']],
  ['Europe/Rome', 'its hour is left out', '2027-03-27T12:00Z', ['2027-03-28T01:30', '2027-03-29T00:30']],
  ['America/New_York', 'the hour before comes twice', '2026-10-31T12:00Z', ['2026-11-01T07:30', '2026-11-02T07:30']],
  ['America/New_York', 'its hour is left out', '2027-03-13T12:00Z', ['2027-03-14T07:30', '2027-03-15T06:30']],
  ['Australia/Lord_Howe', 'half an hour is left out', '2026-10-03T02:00Z', ['2026-10-03T15:30', '2026-10-04T15:30']],
  ['Asia/Tokyo', 'nothing changes', '2026-10-24T12:00Z', ['2026-10-24T17:30', '2026-10-25T17:30']],
  [
    'Pacific/Apia',
    'a whole day is left out',
    '2011-12-29T09:00Z',
    ['2011-12-29T12:30', '2011-12-30T12:30', '2011-12-31T12:30'],
  ],
])('a schedule with a fixed hour runs once a day in %s when %s', (zone, _, from, times) => {
  const to = new Date(Date.parse(from) + (times.length * 24 - 1) * 3_600_000).toISOString();

  expect(matchesBetween('0 30 2 * * *', zone, from, to)).toEqual(times);
});

it('a schedule with a fixed hour runs once when its half hour comes twice', () => {
  expect(matchesBetween('0 45 1 * * *', 'Australia/Lord_Howe', '2027-04-03T06:00Z', '2027-04-05T06:00Z')).toEqual([
    '2027-04-03T15:15',
    '2027-04-04T15:15',
  ]);
});

it.each([
  ['Europe/Rome', '2026-10-25T00:00Z'],
  ['Europe/Rome', '2027-03-28T00:00Z'],
  ['America/New_York', '2026-11-01T05:00Z'],
  ['America/New_York', '2027-03-14T06:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T14:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:00Z'],
])('a schedule of every hour neither skips nor repeats a run when the clocks of %s change at %s', (zone, around) => {
  const at = Date.parse(around);
  const [from, to] = [at - 7_200_000, at + 7_200_000].map((time) => new Date(time).toISOString());

  const times = matchesBetween('0 */10 * * * *', zone, from ?? '', to ?? '');

  expect(times).toHaveLength(24);
  expect(new Set(times).size).toBe(24);
});

it.each([
  ['*/30 * * * * *', 30],
  ['* * * * * *', 1],
  ['*/7 * * * * *', 7],
  ['0 */10 * * * *', 600],
  ['30 5,50 * * * *', 45 * 60],
  ['0 */10 8-18 * * *', 13 * 3_600 + 600],
  ['0 0 9-17 * * 1-5', (16 + 48) * 3_600],
  ['0 0 3 * * 1', 7 * 86_400],
  ['0 0 3 1 * *', 31 * 86_400],
  ['0 0 4 * * *', 86_400],
  ['*/20 * 23 * * *', 86_400 - 3_600 + 20],
])('the schedule %s leaves up to %i seconds between two runs', (expression, seconds) => {
  expect(gapsOf(expression).longestMs).toBe(seconds * 1_000);
});

it('the gaps of a schedule are the longest and the shortest of its runs in two days', () => {
  const times = (max: number) => fc.uniqueArray(fc.nat({ max }), { minLength: 1, maxLength: 3 });

  fc.assert(
    fc.property(times(59), times(59), times(23), (seconds, minutes, hours) => {
      const expression = [seconds, minutes, hours, '*', '*', '*'].join(' ');

      const gaps = gapsBetween(runsOfTwoDays({ seconds, minutes, hours }));
      expect(gapsOf(expression)).toEqual({ shortestMs: Math.min(...gaps), longestMs: Math.max(...gaps) });
    }),
  );
});

it('the gaps of a schedule agree with node-cron', () => {
  const task = createTask('15 0,20 1 * * *', () => undefined, { timezone: 'UTC' });
  onTestFinished(async () => task.destroy());

  const runs = task.getNextRuns(4).map((date) => date.getTime());

  expect(Math.max(...gapsBetween(runs))).toBe(gapsOf('15 0,20 1 * * *').longestMs);
});

function runsOfTwoDays(at: { seconds: number[]; minutes: number[]; hours: number[] }): number[] {
  const ofDay = at.hours.flatMap((hour) =>
    at.minutes.flatMap((minute) => at.seconds.map((second) => ((hour * 60 + minute) * 60 + second) * 1_000)),
  );
  return [...ofDay, ...ofDay.map((ms) => ms + 86_400_000)].toSorted((one, other) => one - other);
}

function gapsBetween(runs: readonly number[]): readonly number[] {
  return runs.slice(1).map((run, index) => run - (runs[index] ?? 0));
}
