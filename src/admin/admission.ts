import { AdminProblem } from './problem.ts';

/** Bounds how many requests wait for one appliance: each starts a process there. */
export interface Admission {
  /** Counts a request in; the result counts it out. Throws an {@link AdminProblem} when too many wait. */
  enter(appliance: string): () => void;
}

export function createAdmission(mostWaiting: number): Admission {
  const waiting = new Map<string, Set<symbol>>();
  return {
    enter(appliance) {
      const before = waiting.get(appliance) ?? new Set();
      if (before.size >= mostWaiting) {
        throw new AdminProblem('busy', {
          detail: `${appliance} has ${before.size} requests of the gateway before it already; nothing was sent.`,
          remedy: 'Wait, and send fewer at a time: each starts a process on the appliance.',
          headers: { 'retry-after': '2' },
        });
      }
      const mine = Symbol(appliance);
      waiting.set(appliance, before.add(mine));
      return () => void before.delete(mine);
    },
  };
}
