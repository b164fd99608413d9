import { closedState } from '../lib/states.ts';
import { type ObjectState } from '../collectors/collector.ts';
import type { Moment, ChangeTimes } from './reading.ts';
import type { Transition } from './status.ts';

interface Sighting {
  readonly state: string;
  readonly since: Moment | undefined;
}

/** The newest state of each object of a reading. */
export class ObjectStates {
  /** By all labels but the last, then by the last: such keys repeat no text of the reading in memory. */
  readonly #places = new Map<string, Map<string, Sighting>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(object: NamedObject): Sighting | undefined {
    const [place, name] = pathOf(object);
    return this.#places.get(place)?.get(name);
  }

  set(object: NamedObject, sighting: Sighting): void {
    const [place, name] = pathOf(object);
    const there = this.#places.get(place) ?? new Map<string, Sighting>();
    this.#places.set(place, there);
    if (!there.has(name)) this.#size += 1;
    there.set(name, sighting);
  }

  *values(): Generator<Sighting> {
    for (const there of this.#places.values()) yield* there.values();
  }
}

type NamedObject = Omit<ObjectState, 'state'>;

/**
 * Compares the objects of a reading with those of the previous one, and returns the changes of
 * state. Missing objects are forgotten; a new object is not a change.
 */
export function compareStates(
  appliance: string,
  before: ObjectStates | undefined,
  objects: Iterable<ObjectState>,
  moment: Moment,
): { readonly states: ObjectStates; readonly transitions: readonly Transition[] } {
  const states = new ObjectStates();
  const transitions: Transition[] = [];
  let hasChanged = false;
  for (const each of objects) {
    const { object, labels } = each;
    const state = closedState(object, each.state);
    const seen = before?.get(each);
    if (seen?.state === state) {
      states.set(each, seen);
      continue;
    }
    hasChanged = true;
    // Objects that changed together share a moment.
    states.set(each, { state, since: seen && moment });
    if (seen) transitions.push({ appliance, atMs: moment.atMs, object, labels, from: seen.state, to: state });
  }
  // Without a change, the previous object stays in memory.
  return { states: before && !hasChanged && before.size === states.size ? before : states, transitions };
}

/**
 * Returns a function that says when an object changed to its state; undefined if none did. After the
 * clock was set back, no change is in the future.
 */
export function changeTimesOf(states: ObjectStates, now: () => number): ChangeTimes | undefined {
  for (const { since: changed } of states.values())
    if (changed)
      return (object) => {
        const since = states.get(object)?.since;
        return since && { ...since, atMs: Math.min(since.atMs, now()) };
      };
  return undefined;
}

function pathOf({ object, labels }: NamedObject): readonly [place: string, name: string] {
  const texts = Object.values(labels);
  return [`${object}\n${texts.slice(0, -1).join('\n')}`, texts.at(-1) ?? ''];
}
