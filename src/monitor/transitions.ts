import type { Logger } from 'pino';
import { type ObjectState, type TransitionObject, transitionStates } from '../collectors/collector.ts';

import { keyOf, type Origin } from './origin.ts';

/** Notices when an object's state differs from the reading before. */
export interface Transitions {
  /** `origin` names the reading: objects that it no longer has are forgotten, those that it sees first are only noted. */
  compare(origin: Origin, states: readonly ObjectState[]): void;
  forget(origin: Origin): void;
}

/** The newest state of each object, by reading. */
export type KnownStates = Map<string, ReadonlyMap<string, string>>;

export function createTransitions(parts: {
  readonly log: Logger;
  readonly known: KnownStates;
  readonly onTransition: (object: TransitionObject, to: string) => void;
}): Transitions {
  const { known } = parts;
  return {
    compare(origin, states) {
      const before = known.get(keyOf(origin));
      const after = new Map<string, string>();
      for (const { object, labels, state: word } of states) {
        const state = closedWord(object, word);
        const key = `${object}\n${Object.values(labels).join('\n')}`;
        const from = before?.get(key);
        after.set(key, state);
        if (from === undefined || from === state) continue;
        parts.onTransition(object, state);
        parts.log.info({ object, ...labels, from, to: state }, 'state changed');
      }
      known.set(keyOf(origin), after);
    },
    forget: (origin) => known.delete(keyOf(origin)),
  };
}

/** The words of a counter's label come from a closed list, whatever an appliance says. */
function closedWord(object: TransitionObject, word: string): string {
  return (transitionStates[object] as readonly string[]).includes(word) ? word : 'unknown';
}
