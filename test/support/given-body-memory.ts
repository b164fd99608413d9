import { onTestFinished } from 'vitest';
import { BodyMemory } from '../../src/admin/calls/body-memory.ts';
import { untilIs } from './until.ts';

/** Memory for bodies, of which nothing is held any more when the test ends. */
export function givenBodyMemory(): BodyMemory {
  const memory = new BodyMemory();
  onTestFinished(() => untilIs(() => memory.bufferedBytes(), 0));
  return memory;
}
