import { expect, it } from 'vitest';
import { createAgeClock } from '../../../src/lib/time.ts';

it.each([
  ['follows the clocks while both run', 1_000, 1_000, 1_000],
  ['does not grow younger when the wall clock is set back', -3_600_000, 1_000, 1_000],
  ['counts the time of a paused machine', 3_600_000, 10, 3_600_000],
])('an age %s', (_, wallMs, steadyMs, ageMs) => {
  const clocks = { wall: 1_000_000, steady: 500 };
  const age = createAgeClock(
    () => clocks.wall,
    () => clocks.steady,
  );

  clocks.wall += wallMs;
  clocks.steady += steadyMs;

  expect(age()).toBe(ageMs);
});
