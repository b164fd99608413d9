import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGovernor, type GovernedCollector } from '../../../src/monitor/governor.ts';

interface Costed extends GovernedCollector {
  readonly seconds: number;
}

/** The strides after each collector has told its cost once. */
function stretched(collectors: readonly Costed[], maxBusyRatio: number): number[] {
  const governor = createGovernor(collectors, maxBusyRatio);
  for (const { name, seconds } of collectors) governor.spent(name, seconds);
  return collectors.map(({ name }) => governor.everyNthTick(name));
}

function loads(collectors: readonly Costed[], strides: readonly number[]): number[] {
  return collectors.map(({ seconds, intervalMs }, index) => (seconds * 1_000) / intervalMs / (strides[index] ?? 1));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** What a collector asks of an appliance, from next to nothing to twenty times all that it has. */
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

describe('the governor', () => {
  it('leaves everything as scheduled while it fits', () => {
    const strides = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 3 },
        { name: 'system', intervalMs: 60_000, seconds: 1 },
      ],
      0.25,
    );

    expect(strides).toEqual([1, 1]);
  });

  it('stretches the costliest, and not the first, which people wait for', () => {
    const strides = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 4 },
        { name: 'backends', intervalMs: 60_000, seconds: 60 },
        { name: 'system', intervalMs: 60_000, seconds: 1 },
      ],
      0.25,
    );

    expect(strides).toEqual([1, 10, 1]);
  });

  it('stretches the first as well when it alone is too much, and leaves a tenth to the others', () => {
    const [farms, system] = stretched(
      [
        { name: 'farms', intervalMs: 30_000, seconds: 20 },
        { name: 'system', intervalMs: 60_000, seconds: 1 },
      ],
      0.25,
    );

    expect([farms, system]).toEqual([3, 1]);
  });

  it('fits whenever it can, and never stretches beyond sixty', () => {
    fc.assert(
      fc.property(collectors, ratio, (list, maxBusyRatio) => {
        const strides = stretched(list, maxBusyRatio);
        const couldFit =
          sum(
            loads(
              list,
              list.map(() => 60),
            ),
          ) <= maxBusyRatio;

        for (const stride of strides) expect([...Array(61).keys()].slice(1)).toContain(stride);
        if (couldFit) expect(sum(loads(list, strides))).toBeLessThanOrEqual(maxBusyRatio);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the first as scheduled whenever stretching the others is enough', () => {
    fc.assert(
      fc.property(collectors, ratio, (list, maxBusyRatio) => {
        const [first = 0, ...others] = loads(list, []);
        const enough = first <= maxBusyRatio * 0.9 && first + sum(others) / 60 <= maxBusyRatio;

        if (enough) expect(stretched(list, maxBusyRatio)[0]).toBe(1);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves alone what costs nothing', () => {
    fc.assert(
      fc.property(collectors, ratio, (list, maxBusyRatio) => {
        const strides = stretched(list, maxBusyRatio);

        expect(strides.filter((stride, index) => stride > 1 && list[index]?.seconds === 0)).toEqual([]);
      }),
    );
  });

  it('smooths, so that one slow answer does not halve the resolution, and lasting slowness does', () => {
    const governor = createGovernor(
      [
        { name: 'farms', intervalMs: 30_000 },
        { name: 'backends', intervalMs: 60_000 },
      ],
      0.25,
    );
    for (let run = 0; run < 10; run += 1) governor.spent('backends', 5);

    governor.spent('backends', 20);
    const afterOne = governor.everyNthTick('backends');
    for (let run = 0; run < 20; run += 1) governor.spent('backends', 20);
    const afterMany = governor.everyNthTick('backends');
    for (let run = 0; run < 20; run += 1) governor.spent('backends', 5);
    const recovered = governor.everyNthTick('backends');

    expect([afterOne, afterMany, recovered]).toEqual([1, 2, 1]);
  });
});
