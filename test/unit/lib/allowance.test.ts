import { expect, it } from 'vitest';
import { Allowance } from '../../../src/lib/allowance.ts';

function given() {
  let nowMs = 0;
  const allowance = new Allowance(60, () => nowMs);
  return { allowance, pass: (seconds: number) => void (nowMs += seconds * 1_000) };
}

it('an allowance grants a minute at once, and refills over time, but never beyond', () => {
  const { allowance, pass } = given();

  allowance.take('one', 60);
  expect(allowance.secondsUntil('one', 20)).toBe(20);
  pass(20);
  expect(allowance.secondsUntil('one', 20)).toBe(0);
  pass(3_600);
  expect(allowance.secondsUntil('one', 60)).toBe(0);
  expect(allowance.secondsUntil('one', 61)).toBe(1);
});

it('an allowance makes only a peer that took too much wait until it is refilled', () => {
  const { allowance, pass } = given();

  allowance.take('one', 150);
  expect(allowance.secondsUntil('one', 0)).toBe(90);
  expect(allowance.secondsUntil('other', 60)).toBe(0);
  pass(90);
  expect(allowance.secondsUntil('one', 0)).toBe(0);
});
