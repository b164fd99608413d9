import { describe, expect, it } from 'vitest';
import { lowestOfEachMinute, memoryGrowth, type Point, trendOf } from '../../../bench/soak/memory.ts';
import { createRandom } from '../../../bench/random.ts';

const hourMs = 3_600_000;

/** Returns what is measured every five seconds for an hour; each value lies near the one before. */
function measured(perHour: number, noise: number, seed = 1): Point[] {
  const random = createRandom(seed);
  let wander = 0;
  return Array.from({ length: 720 }, (_, index) => {
    wander = 0.8 * wander + random.between(-noise, noise);
    return { atMs: index * 5_000, value: 100 + (perHour * index) / 720 + wander };
  });
}

describe('the trend of measurements', () => {
  it('is the slope of a straight line, without doubt', () => {
    expect(trendOf(measured(30, 0))).toMatchObject({ perHour: expect.closeTo(30), confidence: expect.closeTo(0) });
  });

  it('has the true slope within its confidence, nearly always', () => {
    const within = Array.from({ length: 200 }, (_, seed) => {
      const { perHour, confidence } = trendOf(measured(30, 5, seed * 1_000));
      return Math.abs(perHour - 30) <= confidence;
    });

    expect(within.filter(Boolean).length).toBeGreaterThan(180);
  });

  it('is less certain the noisier they are', () => {
    expect(trendOf(measured(0, 20)).confidence).toBeGreaterThan(2 * trendOf(measured(0, 5)).confidence);
  });
});

describe('the growth of memory', () => {
  const flat = measured(0, 0.1);
  const holds = (resident: Point[], heap: Point[], toMs = hourMs) =>
    memoryGrowth('faults', { resident, heap }, { fromMs: 0, toMs }).map((finding) => finding.holds);

  it('holds below 5 % an hour, for resident memory and heap each', () => {
    expect(holds(measured(3, 0.1), flat)).toEqual([true, true]);
    expect(holds(measured(6, 0.1), flat)).toEqual([false, true]);
    expect(holds(flat, measured(6, 0.1))).toEqual([true, false]);
  });

  it('does not hold where the measurements are too noisy to tell, or are missing', () => {
    expect(holds(measured(0, 40), flat)).toEqual([false, true]);
    expect(holds([], [{ atMs: 0, value: Number.NaN }])).toEqual([false, false]);
  });

  it('has no goal in less than an hour', () => {
    expect(holds(flat, flat, hourMs / 2)).toEqual([undefined, undefined]);
  });
});

it('keeps the lowest of each minute', () => {
  const values = [5, 3, 9, 8, 7, 4].map((value, index) => ({ atMs: index * 30_000, value }));

  expect(lowestOfEachMinute(values).map(({ value }) => value)).toEqual([3, 8, 4]);
});
