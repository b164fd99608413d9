import type { FoundReading, StateListener } from './appliance-state.ts';
import type { Transition } from './status.ts';

/** Transitions of all appliances together that are kept. */
export const maxHistory = 200;

/** The newest transitions of all appliances. */
export class TransitionHistory implements StateListener {
  #newestFirst: readonly Transition[] = [];

  /** Returns the transitions, newest first; a new list after each change. */
  get newestFirst(): readonly Transition[] {
    return this.#newestFirst;
  }

  put(_: FoundReading, transitions: readonly Transition[]): void {
    for (const transition of transitions) this.add(transition);
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
