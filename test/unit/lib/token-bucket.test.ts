import { expect, it } from 'vitest';
import { TokenBuckets } from '../../../src/lib/token-bucket.ts';

function givenBuckets() {
  let nowMs = 0;
  const buckets = TokenBuckets.perMinute(60, () => nowMs);
  return { buckets, pass: (seconds: number) => void (nowMs += seconds * 1_000) };
}

it('a token bucket gives its capacity at once, and refills over time, but never beyond', () => {
  const { buckets, pass } = givenBuckets();

  buckets.take('one', 60);
  expect(buckets.tryTake('one')).toBe(false);
  expect(buckets.secondsUntil('one', 20)).toBe(20);
  pass(20);
  expect(buckets.secondsUntil('one', 20)).toBe(0);
  pass(3_600);
  expect(buckets.secondsUntil('one', 60)).toBe(0);
  expect(buckets.secondsUntil('one', 61)).toBe(1);
  expect(buckets.tryTake('one')).toBe(true);
  expect(buckets.left('one')).toBe(59);
});

it('a token bucket makes only a key that took too much wait until it is refilled', () => {
  const { buckets, pass } = givenBuckets();

  buckets.take('one', 150);
  expect(buckets.secondsUntil('one', 0)).toBe(90);
  expect(buckets.secondsUntil('other', 60)).toBe(0);
  pass(90);
  expect(buckets.secondsUntil('one', 0)).toBe(0);
});
