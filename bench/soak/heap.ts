import type { ReadFamily } from '../../test/support/exposition-parser.ts';
import { samplesOf } from './up-check.ts';

/** What V8 holds, in bytes; not a number where the page does not say. */
export interface Heap {
  readonly all: number;
  /** Without machine code, bytecode and what describes them, which V8 makes by itself when a function has become hot. */
  readonly objects: number;
}

/** V8 keeps what belongs to code, and nothing else, in the spaces whose names have one of these. */
const codeSpace = /code|trusted/u;

export function heapOf(page: readonly ReadFamily[]): Heap {
  const spaces = samplesOf(page, 'nodejs_heap_space_size_used_bytes');
  if (spaces.length === 0) return { all: Number.NaN, objects: Number.NaN };
  return {
    all: bytesOf(spaces),
    objects: bytesOf(spaces.filter(({ labels }) => !codeSpace.test(labels['space'] ?? ''))),
  };
}

function bytesOf(spaces: ReadFamily['samples']): number {
  return spaces.reduce((total, { value }) => total + value, 0);
}
