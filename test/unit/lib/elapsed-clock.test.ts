import { expect, it } from 'vitest';
import { createElapsedClock } from '../../../src/lib/time.ts';

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
