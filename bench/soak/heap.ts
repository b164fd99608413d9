import type { ReadFamily } from '../../test/support/exposition-parser.ts';
import { samplesOf } from './up-check.ts';

/** V8 keeps what belongs to code, and nothing else, in the spaces whose names have one of these. */
const codeSpace = /code|trusted/u;

/**
 * What the heap holds without machine code, bytecode and what describes them, which V8 makes by itself when a function has
 * become hot: a leak of these bytes shows sooner than one of the whole. Not a number where the page does not say.
 */
export function objectBytesOf(page: readonly ReadFamily[]): number {
  const spaces = samplesOf(page, 'nodejs_heap_space_size_used_bytes');
  if (spaces.length === 0) return Number.NaN;
  return spaces
    .filter(({ labels }) => !codeSpace.test(labels['space'] ?? ''))
    .reduce((total, { value }) => total + value, 0);
}
