import { setImmediate as nextTick } from 'node:timers/promises';
import { steadyNow } from './steady-now.ts';

/** Divides long work, so that the event loop runs other work in between. */
export interface TimeSlice {
  /** True if the time of the slice is over. */
  readonly isOver: boolean;
  /** Lets other work run, and begins a new slice. */
  next(): Promise<void>;
}

/** Begins the first slice of `lengthMs`. */
export function createTimeSlice(lengthMs: number): TimeSlice {
  let endsMs = steadyNow() + lengthMs;
  return {
    get isOver() {
      return steadyNow() >= endsMs;
    },
    async next() {
      await nextTick();
      endsMs = steadyNow() + lengthMs;
    },
  };
}
