import { onTestFinished } from 'vitest';
import { BodyMemory } from '../../src/admin/calls/body-memory.ts';
import { untilIs } from './until.ts';

/** Memory for bodies; fails the test if bodies are still held at its end. */
export function givenBodyMemory(): BodyMemory {
  const memory = new BodyMemory();
  onTestFinished(() => untilIs(() => memory.bufferedBytes(), 0));
  return memory;
}
