import { closedState, type ObjectState } from '../collectors/collector.ts';
import type { Moment, Since } from './reading.ts';
import type { Transition } from './status.ts';

interface Sighting {
  readonly state: string;
  readonly since: Moment | undefined;
}

/** The newest state of each object of a reading. */
export type ObjectStates = ReadonlyMap<string, Sighting>;

/**
 * Compares the objects of a reading with those of the reading before, and returns the changes:
 * missing objects are forgotten, new ones only noted.
 */
export function compareStates(
  appliance: string,
  before: ObjectStates | undefined,
  objects: Iterable<ObjectState>,
  moment: Moment,
): { readonly states: ObjectStates; readonly transitions: readonly Transition[] } {
  const states = new Map<string, Sighting>();
  const transitions: Transition[] = [];
  let isOther = false;
  for (const { object, labels, state: word } of objects) {
    const state = closedState(object, word);
    const key = nameOf({ object, labels });
    const seen = before?.get(key);
    if (seen?.state === state) {
      states.set(key, seen);
      continue;
    }
    isOther = true;
    // By their moment those are known that changed together.
    states.set(key, { state, since: seen && moment });
    if (seen) transitions.push({ appliance, atMs: moment.atMs, object, labels, from: seen.state, to: state });
  }
  // Equal states are kept once in memory.
  return { states: before && !isOther && before.size === states.size ? before : states, transitions };
}

/**
 * Returns when each object was seen to change to its state; undefined if none of them ever was.
 * After a clock was set back, a change is not in the future.
 */
export function sinceOf(states: ObjectStates, now: () => number): Since | undefined {
  for (const { since: changed } of states.values())
    if (changed)
      return (object) => {
        const since = states.get(nameOf(object))?.since;
        return since && { ...since, atMs: Math.min(since.atMs, now()) };
      };
  return undefined;
}

function nameOf({ object, labels }: Omit<ObjectState, 'state'>): string {
  return `${object}\n${Object.values(labels).join('\n')}`;
}
