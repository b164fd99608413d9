import * as fc from 'fast-check';
import { createTask } from 'node-cron';
import { describe, expect, it, onTestFinished } from 'vitest';
import { maxGapMs } from '../../../src/config/schedule.ts';

describe('a schedule', () => {
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
  ])('%s leaves up to %i seconds between two runs', (expression, seconds) => {
    expect(maxGapMs(expression)).toBe(seconds * 1_000);
  });

  it('has the largest gap of its runs in two days', () => {
    const times = (max: number) => fc.uniqueArray(fc.nat({ max }), { minLength: 1, maxLength: 3 });

    fc.assert(
      fc.property(times(59), times(59), times(23), (seconds, minutes, hours) => {
        const expression = [seconds, minutes, hours, '*', '*', '*'].join(' ');

        expect(maxGapMs(expression)).toBe(longestOf(runsOfTwoDays({ seconds, minutes, hours })));
      }),
    );
  });

  it('means the same to node-cron', () => {
    const task = createTask('15 0,20 1 * * *', () => undefined, { timezone: 'UTC' });
    onTestFinished(async () => task.destroy());

    const runs = task.getNextRuns(4).map((date) => date.getTime());

    expect(longestOf(runs)).toBe(maxGapMs('15 0,20 1 * * *'));
  });
});

function runsOfTwoDays(at: { seconds: number[]; minutes: number[]; hours: number[] }): number[] {
  const ofDay = at.hours.flatMap((hour) =>
    at.minutes.flatMap((minute) => at.seconds.map((second) => ((hour * 60 + minute) * 60 + second) * 1_000)),
  );
  return [...ofDay, ...ofDay.map((ms) => ms + 86_400_000)].toSorted((one, other) => one - other);
}

function longestOf(runs: readonly number[]): number {
  return Math.max(...runs.slice(1).map((run, index) => run - (runs[index] ?? 0)));
}
