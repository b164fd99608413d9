import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../bench/soak/random.ts';
import { growsBy, lowestOfEach, trendOf } from '../../../bench/soak/trend.ts';

/** Twenty minutes, looked at every five seconds; each value lies near the one before. */
function measured(perHour: number, noise: number) {
  const random = createRandom(1);
  let wander = 0;
  return Array.from({ length: 240 }, (_, index) => {
    wander = 0.8 * wander + random.between(-noise, noise);
    return { atMs: index * 5_000, value: 100 + (perHour * index) / 720 + wander };
  });
}

describe('the trend of measurements', () => {
  it('is the slope of a straight line, without doubt', () => {
    expect(trendOf(measured(30, 0))).toMatchObject({ perHour: expect.closeTo(30), confidence: expect.closeTo(0) });
  });

  it('has the true slope within its confidence, and less of that the noisier they are', () => {
    for (const noise of [1, 5, 20]) {
      const { perHour, confidence } = trendOf(measured(30, noise));
      expect(Math.abs(perHour - 30)).toBeLessThan(confidence);
    }
    expect(trendOf(measured(0, 20)).confidence).toBeGreaterThan(2 * trendOf(measured(0, 5)).confidence);
  });

  it('tells a leak from noise', () => {
    expect(growsBy(trendOf(measured(30, 2)), 0.05)).toBe(true);
    expect(growsBy(trendOf(measured(0, 2)), 0.05)).toBe(false);
  });
});

it('keeps the lowest of each stretch of time', () => {
  const values = [5, 3, 9, 8, 7, 4].map((value, index) => ({ atMs: index * 500, value }));

  expect(lowestOfEach(1_000, values).map(({ value }) => value)).toEqual([3, 8, 4]);
});
