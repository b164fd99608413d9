import type { Logger } from 'pino';
import { closedState, type ObjectState } from '../collectors/collector.ts';
import { keyOf, type Moment, type Origin, type Since } from '../state/reading.ts';
import type { Transition } from '../state/status.ts';

/** The newest state of each object, by reading. */
export type KnownStates = Map<string, ReadonlyMap<string, Sighting>>;

interface Sighting {
  readonly state: string;
  readonly since: Moment | undefined;
}

/**
 * Lines of the log for one reading: an appliance that changes all of its states at each poll must
 * not stop the loop.
 */
const maxLogged = 1_000;

export interface TransitionsParts {
  readonly appliance: string;
  readonly log: Logger;
  readonly known: KnownStates;
  readonly now: () => number;
  /** The clock of ages, see lib/time.ts. */
  readonly age: () => number;
}

/** Notices when an object's state differs from the reading before. */
export class Transitions {
  readonly #parts: TransitionsParts;

  constructor(parts: TransitionsParts) {
    this.#parts = parts;
  }

  /**
   * Compares a reading with the previous one of `origin`, and returns the changes: missing objects
   * are forgotten, new ones only noted.
   */
  compare(origin: Origin, states: readonly ObjectState[]): readonly Transition[] {
    const { appliance, known, log, now, age } = this.#parts;
    const before = known.get(keyOf(origin));
    const after = new Map<string, Sighting>();
    const transitions: Transition[] = [];
    let isOther = false;
    // By it those are known that changed together.
    const moment = { atMs: now(), ageMs: age() };
    for (const { object, labels, state: word } of states) {
      const state = closedState(object, word);
      const key = nameOf({ object, labels });
      const seen = before?.get(key);
      if (seen?.state === state) {
        after.set(key, seen);
        continue;
      }
      isOther = true;
      after.set(key, { state, since: seen && moment });
      if (!seen) continue;
      transitions.push({ appliance, atMs: moment.atMs, object, labels, from: seen.state, to: state });
      if (transitions.length <= maxLogged)
        log.info({ object, ...labels, from: seen.state, to: state }, 'state changed');
    }
    const changes = transitions.length;
    if (changes > maxLogged)
      log.info({ ...origin, changes, logged: maxLogged }, 'more states changed than are logged one by one');
    // Nearly always nothing has changed: tens of thousands of objects are not kept again then.
    if (isOther || after.size !== before?.size) known.set(keyOf(origin), after);
    return transitions;
  }

  /**
   * Returns when each object of a reading was seen to change to its state; undefined if none of
   * them ever was.
   */
  changesOf(origin: Origin): Since | undefined {
    const sightings = this.#parts.known.get(keyOf(origin));
    for (const { since } of sightings?.values() ?? [])
      if (since) return (object) => this.#notLater(sightings?.get(nameOf(object))?.since);
    return undefined;
  }

  /** A clock that was set back would put a change into the future. */
  #notLater(since: Moment | undefined): Moment | undefined {
    return since && { ...since, atMs: Math.min(since.atMs, this.#parts.now()) };
  }

  forget(origin: Origin): void {
    this.#parts.known.delete(keyOf(origin));
  }
}

function nameOf({ object, labels }: Omit<ObjectState, 'state'>): string {
  return `${object}\n${Object.values(labels).join('\n')}`;
}

/** Transitions of all appliances together that are kept. */
export const maxHistory = 200;

/** The newest transitions of all appliances. */
export class TransitionHistory {
  #newestFirst: readonly Transition[] = [];

  /** Returns the transitions, newest first; a new list after each change. */
  get newestFirst(): readonly Transition[] {
    return this.#newestFirst;
  }

  add(transition: Transition): void {
    const { atMs } = transition;
    // After a clock was set back: what came before was not later.
    const before = this.#newestFirst.map((each) => (each.atMs > atMs ? { ...each, atMs } : each));
    this.#newestFirst = [transition, ...before.slice(0, maxHistory - 1)];
  }

  /** Forgets appliances that are no longer watched. */
  keepOnly(isWatched: (appliance: string) => boolean): void {
    const kept = this.#newestFirst.filter(({ appliance }) => isWatched(appliance));
    if (kept.length < this.#newestFirst.length) this.#newestFirst = kept;
  }
}
