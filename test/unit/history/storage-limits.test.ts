import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalShare } from '../../../src/history/storage-limits.ts';

describe('an equal share', () => {
  it('leaves smaller consumers alone, and divides the rest', () => {
    expect(equalShare([1, 2, 30, 50], 20)).toBe(8.5);
    expect(equalShare([50], 20)).toBe(20);
    expect(equalShare([], 20)).toBe(Number.POSITIVE_INFINITY);
    expect(equalShare([10, 10], 20)).toBe(Number.POSITIVE_INFINITY);
  });

  it('keeps any amounts within the limit, and takes nothing from those below an equal part', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(1_000_000), { minLength: 1 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (all, total) => {
          const most = equalShare(all, total);
          const sum = all.reduce((whole, amount) => whole + Math.min(amount, most), 0);
          expect(sum).toBeLessThanOrEqual(total * 1.000_001);
          expect(most).toBeGreaterThanOrEqual(total / all.length - 0.000_001);
          if (Number.isFinite(most)) expect(sum).toBeGreaterThan(total * 0.999_999);
        },
      ),
    );
  });
});
