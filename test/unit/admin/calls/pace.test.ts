import { expect, it, onTestFinished, vi } from 'vitest';
import { minBytesPerSecond as least, watchPace } from '../../../../src/admin/calls/body-memory.ts';

type Stretch = readonly [seconds: number, bytesPerSecond: number];

it.each<[what: string, stretches: readonly Stretch[], endedAt: number | undefined]>([
  ['without a byte is ended after its grace', [[600, 0]], 20],
  ['at the minimum rate may take long', [[3_600, least]], undefined],
  ['at half of the minimum rate is ended soon after its grace', [[600, least / 2]], 39],
  [
    'that was fast may pause for two minutes at most',
    [
      [21, 1_000 * least],
      [600, 0],
    ],
    140,
  ],
])('a transfer %s', (_, stretches, endedAt) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let [seconds, bytes] = [0, 0];
  const ends: number[] = [];
  const pace = { graceMs: 20_000, tooSlow: () => new Error('too slow') };
  const end = watchPace(
    pace,
    () => bytes,
    () => void ends.push(seconds),
  );

  for (const [duration, rate] of stretches)
    for (let second = 0; second < duration; second += 1) {
      bytes += rate;
      seconds += 1;
      vi.advanceTimersByTime(1_000);
    }
  end();
  vi.advanceTimersByTime(1_000_000);

  expect(ends).toEqual(endedAt === undefined ? [] : [endedAt]);
});
