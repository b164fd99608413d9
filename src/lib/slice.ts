import { setImmediate as nextTurn } from 'node:timers/promises';
import { steadyNow } from './steady-now.ts';

/** Divides long work, so that everything else has its turn in between. */
export interface Slice {
  /** Whether it is somebody else's turn. */
  readonly isOver: boolean;
  /** Resolves once everything else had its turn; a new slice begins then. */
  next(): Promise<void>;
}

/** The first one begins now. */
export function createSlice(lengthMs: number): Slice {
  let endsMs = steadyNow() + lengthMs;
  return {
    get isOver() {
      return steadyNow() >= endsMs;
    },
    async next() {
      await nextTurn();
      endsMs = steadyNow() + lengthMs;
    },
  };
}
