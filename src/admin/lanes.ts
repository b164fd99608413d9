import { createLane, type Lane } from './lane.ts';

/**
 * How requests pass to an appliance. Changes go one by one, so that what a guard saw still holds when the change is sent,
 * and a freeze stops all that wait; reads have places of their own, so that neither holds up the other.
 */
export interface Lanes {
  /** Resolves to what ends the turn. Rejects with an AdminProblem when too many wait, or for too long. */
  enter(appliance: string, kind: 'read' | 'change', principal: string, signal: AbortSignal): Promise<() => void>;
}

const mostWaiting = 16;
const patienceMs = 30_000;
/** An appliance goes on with a call whose caller left; without this, leaving would be a way to start any number of them. */
const restAfterAbortMs = 250;

export function createLanes(readsAtOnce: number): Lanes {
  const lanes = new Map<string, Lane>();

  function laneOf(appliance: string, kind: 'read' | 'change'): Lane {
    const key = `${kind} ${appliance}`;
    const slots = kind === 'read' ? readsAtOnce : 1;
    const lane = lanes.get(key) ?? createLane({ appliance, slots, mostWaiting, patienceMs });
    lanes.set(key, lane);
    return lane;
  }

  return {
    async enter(appliance, kind, principal, signal) {
      const leave = await laneOf(appliance, kind).enter(principal, signal);
      return () => void (signal.aborted ? setTimeout(leave, restAfterAbortMs).unref() : leave());
    },
  };
}
