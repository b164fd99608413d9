import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createElapsedClock, formatDuration, parseDuration } from '../../../src/lib/time.ts';

describe('a duration', () => {
  it.each([
    ['20s', 20_000],
    ['500ms', 500],
    ['3m', 180_000],
    ['1h30m', 5_400_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1.5s', 1_500],
    ['0s', 0],
  ])('is parsed from %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '20', '20 s', '20S', 's', '-1s', '+1s', '1h ', '5 secs', '1e3s', '.5s', '1s2', '∞s'])(
    'is refused as %j instead of guessed',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('is written in whole seconds and parsed back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 * 86_400 }), (seconds) => {
        expect(parseDuration(formatDuration(seconds * 1_000))).toBe(seconds * 1_000);
      }),
    );
  });

  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [90_000, '1m30s'],
    [86_400_000, '1d'],
    [90_061_000, '1d1h1m1s'],
  ])('is written for %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

it.each([
  ['follows the clocks while both run', 1_000, 1_000, 1_000],
  ['does not go back when the wall clock is set back', -3_600_000, 1_000, 1_000],
  ['counts the time of a paused machine', 3_600_000, 10, 3_600_000],
])('the elapsed clock %s', (_, wallMs, steadyMs, elapsedMs) => {
  const clocks = { wall: 1_000_000, steady: 500 };
  const elapsedNow = createElapsedClock(
    () => clocks.wall,
    () => clocks.steady,
  );

  clocks.wall += wallMs;
  clocks.steady += steadyMs;

  expect(elapsedNow()).toBe(elapsedMs);
});
