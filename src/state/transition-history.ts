import { withinShares } from '../lib/shares.ts';
import type { StateListener } from './appliance-state.ts';
import type { NewReading } from './reading.ts';
import type { Transition } from './status.ts';

/** Transitions of all appliances together that are kept. */
export const maxHistory = 200;

export class TransitionHistory implements StateListener {
  #newestFirst: readonly Transition[] = [];

  /** Returns the transitions, newest first; a new list after each change. */
  get newestFirst(): readonly Transition[] {
    return this.#newestFirst;
  }

  onReading(_reading: NewReading | undefined, transitions: readonly Transition[]): void {
    const [first] = transitions;
    if (!first) return;
    const { atMs } = first;
    // After the clock was set back, earlier transitions must not be in the future.
    const before = this.#newestFirst.map((each) => (each.atMs > atMs ? { ...each, atMs } : each));
    const all = [...transitions.slice(-maxHistory).toReversed(), ...before];
    this.#newestFirst = withinShares(all, maxHistory, ({ appliance }) => appliance);
  }

  keepOnly(isWatched: (appliance: string) => boolean): void {
    const kept = this.#newestFirst.filter(({ appliance }) => isWatched(appliance));
    if (kept.length < this.#newestFirst.length) this.#newestFirst = kept;
  }
}
