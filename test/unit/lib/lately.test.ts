import { expect, it } from 'vitest';
import { createLately } from '../../../src/lib/lately.ts';

it('knows what was asked for within its time, counted from the last time it was asked for', () => {
  let nowMs = 0;
  const lately = createLately<'page' | 'text'>(1_000, () => nowMs);
  const known = (): boolean[] => [lately.has('page'), lately.has('text')];
  const before = known();

  lately.asked('page');
  nowMs = 900;
  lately.asked('text');
  const both = known();
  nowMs = 1_000;
  const one = known();
  lately.asked('page');
  nowMs = 1_950;

  expect([before, both, one, known()]).toEqual([
    [false, false],
    [true, true],
    [false, true],
    [true, false],
  ]);
});
