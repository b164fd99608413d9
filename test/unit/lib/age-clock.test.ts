import { expect, it } from 'vitest';
import { createAgeClock } from '../../../src/lib/time.ts';

function givenClocks() {
  const clocks = { wall: 1_000_000, steady: 500 };
  const age = createAgeClock(
    () => clocks.wall,
    () => clocks.steady,
  );
  return { clocks, age };
}

it('follows the clocks while both run', () => {
  const { clocks, age } = givenClocks();

  clocks.wall += 1_000;
  clocks.steady += 1_000;

  expect(age()).toBe(1_000);
});

it('does not grow younger when the wall clock is set back', () => {
  const { clocks, age } = givenClocks();

  clocks.wall -= 3_600_000;
  clocks.steady += 1_000;

  expect(age()).toBe(1_000);
});

it('counts the time of a paused machine', () => {
  const { clocks, age } = givenClocks();

  clocks.wall += 3_600_000;
  clocks.steady += 10;

  expect(age()).toBe(3_600_000);
});
