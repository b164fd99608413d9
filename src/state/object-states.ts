import { closedState, type ObjectState } from '../collectors/collector.ts';
import type { Moment, Since } from './reading.ts';
import type { Transition } from './status.ts';

interface Sighting {
  readonly state: string;
  readonly since: Moment | undefined;
}

/** The newest state of each object of a reading. */
export class ObjectStates {
  /** By all labels but the last, and then by that one, so that no text repeats those of the reading. */
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
 * Compares the objects of a reading with those of the reading before, and returns the changes:
 * missing objects are forgotten, new ones only noted.
 */
export function compareStates(
  appliance: string,
  before: ObjectStates | undefined,
  objects: Iterable<ObjectState>,
  moment: Moment,
): { readonly states: ObjectStates; readonly transitions: readonly Transition[] } {
  const states = new ObjectStates();
  const transitions: Transition[] = [];
  let isOther = false;
  for (const each of objects) {
    const { object, labels } = each;
    const state = closedState(object, each.state);
    const seen = before?.get(each);
    if (seen?.state === state) {
      states.set(each, seen);
      continue;
    }
    isOther = true;
    // By their moment those are known that changed together.
    states.set(each, { state, since: seen && moment });
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
        const since = states.get(object)?.since;
        return since && { ...since, atMs: Math.min(since.atMs, now()) };
      };
  return undefined;
}

function pathOf({ object, labels }: NamedObject): readonly [place: string, name: string] {
  const texts = Object.values(labels);
  return [`${object}\n${texts.slice(0, -1).join('\n')}`, texts.at(-1) ?? ''];
}
