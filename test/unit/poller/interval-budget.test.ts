import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIntervalBudget, type BudgetedCollector } from '../../../src/poller/interval-budget.ts';

interface Costed extends BudgetedCollector {
  readonly seconds: number;
}

/** The multipliers after each collector has told its cost once. */
function stretched(collectors: readonly Costed[], maxBusyRatio: number): number[] {
  const budget = createIntervalBudget(collectors, maxBusyRatio, () => undefined);
  for (const { name, seconds } of collectors) budget.spent(name, seconds);
  return collectors.map(({ name }) => budget.multiplier(name));
}

function loads(collectors: readonly Costed[], multipliers: readonly number[]): number[] {
  return collectors.map(({ seconds, intervalMs }, index) => (seconds * 1_000) / intervalMs / (multipliers[index] ?? 1));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** The load of a collector on an appliance, from almost nothing to twenty times its capacity. */
const share = fc.oneof(
  fc.constant(0),
  fc.double({ min: -3, max: 1.3, noNaN: true }).map((exponent) => 10 ** exponent),
);
const collectors = fc
  .array(fc.record({ share, intervalMs: fc.constantFrom(1_000, 30_000, 60_000, 600_000) }), {
    minLength: 1,
    maxLength: 15,
  })
  .map((list): Costed[] =>
    list.map(({ share: busy, intervalMs }, index) => ({
      name: `collector ${index}`,
      intervalMs,
      seconds: (busy * intervalMs) / 1_000,
    })),
  );
const ratio = fc.double({ min: 0.01, max: 1, noNaN: true });

describe('the interval budget', () => {
  it('keeps every schedule while the sum fits', () => {
    const multipliers = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 3 },
        { name: 'system', intervalMs: 60_000, seconds: 1 },
      ],
      0.25,
    );

    expect(multipliers).toEqual([1, 1]);
  });

  it('stretches the collector that frees the most, not the first one', () => {
    const multipliers = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 4 },
        { name: 'backends', intervalMs: 60_000, seconds: 60 },
        { name: 'system', intervalMs: 60_000, seconds: 1 },
      ],
      0.25,
    );

    expect(multipliers).toEqual([1, 10, 1]);
  });

  it('stretches the first too if it alone is too much, and leaves a tenth to the others', () => {
    const [farms, system] = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 19 },
        { name: 'system', intervalMs: 60_000, seconds: 1 },
      ],
      0.25,
    );

    expect([farms, system]).toEqual([3, 1]);
  });

  it('fits whenever possible, and never stretches beyond sixty', () => {
    fc.assert(
      fc.property(collectors, ratio, (list, maxBusyRatio) => {
        const multipliers = stretched(list, maxBusyRatio);
        const longest = loads(
          list,
          list.map((_, index) => (index === 0 ? (multipliers[0] ?? 1) : 60)),
        );

        for (const multiplier of multipliers) expect([...Array(61).keys()].slice(1)).toContain(multiplier);
        if (sum(longest) <= maxBusyRatio) expect(sum(loads(list, multipliers))).toBeLessThanOrEqual(maxBusyRatio);
      }),
      { numRuns: 100 },
    );
  });

  it('never stretches the first for the cost of others', () => {
    fc.assert(
      fc.property(collectors, ratio, (list, maxBusyRatio) => {
        expect(stretched(list, maxBusyRatio)[0]).toBe(stretched(list.slice(0, 1), maxBusyRatio)[0]);
      }),
      { numRuns: 100 },
    );
  });

  it('does not stretch collectors without a cost', () => {
    fc.assert(
      fc.property(collectors, ratio, (list, maxBusyRatio) => {
        const multipliers = stretched(list, maxBusyRatio);

        expect(multipliers.filter((multiplier, index) => multiplier > 1 && list[index]?.seconds === 0)).toEqual([]);
      }),
    );
  });

  it('ignores one slow answer, and reacts to lasting slowness', () => {
    const budget = createIntervalBudget(
      [
        { name: 'farms', intervalMs: 30_000 },
        { name: 'backends', intervalMs: 60_000 },
      ],
      0.25,
      () => undefined,
    );
    for (let run = 0; run < 10; run += 1) budget.spent('backends', 5);

    budget.spent('backends', 20);
    const afterOne = budget.multiplier('backends');
    for (let run = 0; run < 20; run += 1) budget.spent('backends', 20);
    const afterMany = budget.multiplier('backends');
    for (let run = 0; run < 20; run += 1) budget.spent('backends', 5);
    const recovered = budget.multiplier('backends');

    expect([afterOne, afterMany, recovered]).toEqual([1, 2, 1]);
  });

  it('stretches a cheap one a little before a costly one too far', () => {
    const multipliers = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 5 },
        { name: 'backends', intervalMs: 60_000, seconds: 80 },
        { name: 'farm_config', intervalMs: 600_000, seconds: 35 },
      ],
      0.25,
    );

    expect(multipliers).toEqual([1, 23, 5]);
  });

  it('plans a round by its calls so far, without waiting for its end', () => {
    const budget = createIntervalBudget([{ name: 'backends', intervalMs: 60_000 }], 0.25, () => undefined);

    budget.expects('backends', 40);

    expect(budget.multiplier('backends')).toBe(4);
  });

  it('keeps its plan while costs vary by a seventh, for any costs', () => {
    const jitter = (run: number): number => 0.85 + 0.3 * (((run * 2_654_435_761) % 4_294_967_296) / 4_294_967_296);
    const restless = Array.from({ length: 120 }, (_, index) => 0.5 * (index + 1)).filter((seconds) => {
      let changes = 0;
      const list = [
        { name: 'farms', intervalMs: 30_000 },
        { name: 'backends', intervalMs: 60_000 },
      ];
      const budget = createIntervalBudget(list, 0.25, () => {
        changes += 1;
      });
      for (let run = 0; run < 550; run += 1) {
        if (run === 50) changes = 0;
        budget.spent('farms', 5 * jitter(2 * run));
        budget.spent('backends', seconds * jitter(2 * run + 1));
      }
      return changes > 2;
    });

    expect(restless).toEqual([]);
  });

  it('reports only changed intervals', () => {
    const told: number[] = [];
    const budget = createIntervalBudget([{ name: 'backends', intervalMs: 60_000 }], 0.25, () =>
      told.push(budget.multiplier('backends')),
    );

    for (const seconds of [5, 5, 40, 40, 40, 40, 5, 5, 5]) budget.spent('backends', seconds);

    expect(told).toEqual([2, 1]);
  });
});
