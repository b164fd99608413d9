import { describe, expect, it } from 'vitest';
import { flatness } from '../../../bench/soak/flatness.ts';
import { objectBytesOf } from '../../../bench/soak/heap.ts';
import type { Point } from '../../../bench/soak/trend.ts';
import { type Measure, measures } from '../../../bench/soak/watch.ts';
import { parseExposition } from '../../support/exposition-parser.ts';

const minutes = 20;

/** What is measured every five seconds: 100, and more by what the given measure has at a minute. */
function measured(grown: Measure, byAt: (minute: number) => number): Record<Measure, Point[]> {
  const points = (name: Measure): Point[] =>
    Array.from({ length: minutes * 12 }, (_, index) => ({
      atMs: index * 5_000,
      value: 100 + (name === grown ? byAt(index / 12) : 0),
    }));
  return Object.fromEntries(measures.map((name) => [name, points(name)])) as Record<Measure, Point[]>;
}

function missed(points: Record<Measure, Point[]>): string[] {
  return flatness('faults', points, { fromMs: 0, toMs: minutes * 60_000 })
    .filter(({ holds }) => holds === false)
    .map(({ name }) => name);
}

describe('what the exporter holds', () => {
  it('may not grow, be it memory, heap, objects, handles or sockets', () => {
    for (const name of ['resident', 'heap', 'objects', 'handles', 'sockets'] as const)
      expect(missed(measured(name, (minute) => minute))).toHaveLength(1);
  });

  it('is taken to grow where the pages do not say', () => {
    expect(missed(measured('objects', () => Number.NaN))).toHaveLength(1);
  });
});

describe('the objects on the heap of a page', () => {
  it('are what the program made, and not what V8 compiled of it', () => {
    const spaces = { new: 1, old: 20, large_object: 300, code: 4_000, code_large_object: 50_000, trusted: 600_000 };
    const lines = Object.entries(spaces).map(
      ([space, bytes]) => `nodejs_heap_space_size_used_bytes{space="${space}"} ${bytes}\n`,
    );
    const page = `# HELP nodejs_heap_space_size_used_bytes A.\n# TYPE nodejs_heap_space_size_used_bytes gauge\n${lines.join('')}`;

    expect(objectBytesOf(parseExposition(page, 'text'))).toBe(321);
  });

  it('are not known of a page without it', () => {
    expect(objectBytesOf([])).toBeNaN();
  });
});
