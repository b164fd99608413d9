// The states of objects. A status of a reply becomes small letters in decode.ts and a label value
// here (`stateWord`). Collectors keep that word: a farm whose word is new to us runs, and one without
// a word may not. What is counted or shown has a state of the closed list (`closedState`), `unknown`
// for any other word; metrics/render.ts reports those for the log.

export const statesOf = {
  farm: ['up', 'down', 'needed_restart', 'critical', 'problem', 'maintenance', 'unknown'],
  backend: ['up', 'down', 'maintenance', 'unknown'],
  certificate: ['valid', 'about_to_expire', 'expired', 'invalid', 'unknown'],
  activation: ['activated', 'deactivated', 'not_applicable', 'unknown'],
  interface: ['up', 'down', 'unknown'],
} as const;

export type StatefulKind = keyof typeof statesOf;

/**
 * Returns the appliance's status word as a label value: `needed restart` becomes `needed_restart`,
 * and the number -1, which some releases write instead of a word (docs/api.md §2.4), `unknown`.
 */
export function stateWord(word: string | null | undefined): string {
  return word && word !== '-1' ? word.replaceAll(' ', '_') : 'unknown';
}

/** Internal words for the state of a backend that some releases let through (docs/api.md §2.2). */
const backendSynonyms: ReadonlyMap<string, string> = new Map([
  ['fgdown', 'down'],
  ['active', 'up'],
  ['undefined', 'unknown'],
]);

export function backendStateWord(status: string | null | undefined): string {
  const word = stateWord(status);
  return backendSynonyms.get(word) ?? word;
}

export function closedState(object: StatefulKind, word: string): string {
  const states: readonly string[] = statesOf[object];
  // Returns the string of the list, not the equal one of the appliance: tens of thousands of
  // objects then share it in memory.
  return states.find((state) => state === word) ?? 'unknown';
}

/** Returns a state for people: `needed_restart` becomes `needs restart`. */
export function stateLabel(state: string): string {
  return state === 'needed_restart' ? 'needs restart' : state.replaceAll('_', ' ');
}
