import type { Logger } from 'pino';
import { closedState, type ObjectState, type TransitionObject } from '../collectors/collector.ts';
import { keyOf, type Origin } from './origin.ts';

/** Notices when an object's state differs from the reading before. */
export interface Transitions {
  /** `origin` names the reading: objects that it no longer has are forgotten, those that it sees first are only noted. */
  compare(origin: Origin, states: readonly ObjectState[]): void;
  /** Unix milliseconds at which each object was seen to change to the state that it has; undefined where none of them ever was. */
  changesOf(origin: Origin): SinceMs | undefined;
  forget(origin: Origin): void;
}

/** When an object was seen to change to the state that it has, in Unix milliseconds; undefined where it never was. */
export type SinceMs = (object: Omit<ObjectState, 'state'>) => number | undefined;

/** The newest state of each object, by reading. */
export type KnownStates = Map<string, ReadonlyMap<string, Sighting>>;

interface Sighting {
  readonly state: string;
  readonly sinceMs: number | undefined;
}

/** One change. */
export interface Transition extends Omit<ObjectState, 'state'> {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
}

/** Lines of the log for one reading: an appliance that changes all of its states at each poll must not stop the loop. */
const maxLogged = 1_000;

export function createTransitions(parts: {
  readonly log: Logger;
  readonly known: KnownStates;
  readonly onTransition: (transition: Transition) => void;
  readonly now: () => number;
}): Transitions {
  const { known } = parts;
  /** One sighting for all objects that have been in a state from the first, which are most. */
  const fromTheFirst = new Map<string, Sighting>();

  function firstSight(state: string): Sighting {
    const sighting = fromTheFirst.get(state) ?? { state, sinceMs: undefined };
    fromTheFirst.set(state, sighting);
    return sighting;
  }

  return {
    compare(origin, states) {
      const before = known.get(keyOf(origin));
      // Nearly always: what stays is not to be made anew with every reading.
      if (before && areSame(before, states)) return;
      const after = new Map<string, Sighting>();
      let changes = 0;
      for (const { object, labels, state: word } of states) {
        const state = closedState(object, word);
        const key = nameOf({ object, labels });
        const seen = before?.get(key);
        if (seen === undefined || seen.state === state) {
          after.set(key, seen ?? firstSight(state));
          continue;
        }
        const atMs = parts.now();
        after.set(key, { state, sinceMs: atMs });
        parts.onTransition({ atMs, object, labels, from: seen.state, to: state });
        changes += 1;
        if (changes <= maxLogged) parts.log.info({ object, ...labels, from: seen.state, to: state }, 'state changed');
      }
      if (changes > maxLogged) {
        const message = 'more states changed than are logged one by one';
        parts.log.info({ ...origin, changes, logged: maxLogged }, message);
      }
      known.set(keyOf(origin), after);
    },
    changesOf(origin) {
      const sightings = known.get(keyOf(origin));
      for (const { sinceMs } of sightings?.values() ?? [])
        if (sinceMs !== undefined) return (object) => sightings?.get(nameOf(object))?.sinceMs;
      return undefined;
    },
    forget: (origin) => known.delete(keyOf(origin)),
  };
}

/** Whether all objects are there, in the states that they were in, and no others. */
function areSame(before: ReadonlyMap<string, Sighting>, states: readonly ObjectState[]): boolean {
  const names = new Set<string>();
  for (const { object, labels, state } of states) {
    const name = nameOf({ object, labels });
    if (before.get(name)?.state !== closedState(object, state)) return false;
    names.add(name);
  }
  return names.size === before.size;
}

function nameOf({
  object,
  labels,
}: {
  readonly object: TransitionObject;
  readonly labels: ObjectState['labels'];
}): string {
  return `${object}\n${Object.values(labels).join('\n')}`;
}
