import { expect, it } from 'vitest';
import { freshnessOf } from '../../../src/state/freshness.ts';

it.each([
  ['two intervals and ten seconds', 130_000, 'fresh'],
  ['more', 130_001, 'late'],
])('a reading is late after two intervals and the ten seconds of a long run: %s', (_, age, expected) => {
  const collector = {
    name: 'farms',
    ok: true,
    lastSuccessMs: 0,
    intervalMs: 60_000,
    isStale: false,
    isSupported: true,
  };

  expect(freshnessOf(collector, age)).toBe(expected);
});
