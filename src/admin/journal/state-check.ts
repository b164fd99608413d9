import type { DatabaseSync } from 'node:sqlite';
import { isRecord, parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { AuditLine } from './record.ts';

/**
 * Compares the changes and the freeze of a journal with its records: each state is in the
 * transaction of its record, so that an edit of only the tables is found. Only a change that is in
 * none of `openStates` may be gone.
 */
export function createStateCheck(database: DatabaseSync, openStates: readonly string[]) {
  const changes = new Map(
    database
      .prepare('SELECT id, change FROM changes')
      .all()
      .map(({ id, change }) => [String(id), String(change)]),
  );
  const freeze = database.prepare('SELECT freeze FROM freeze').get();
  const recorded = new Map<string, string>();
  /** Changes that are missing although their records say that they are not over. */
  const gone = new Map<string, string>();
  let frozenBy: string | undefined;
  return {
    add({ event, request, principal, state, requested_by: requestedBy, appliance }: AuditLine): void {
      if (event === 'freeze') frozenBy = principal;
      if (event === 'unfreeze') frozenBy = undefined;
      if (event !== 'change') return;
      const text = stateText({ state, requested_by: requestedBy, appliance });
      if (changes.has(request)) recorded.set(request, text);
      else if (openStates.includes(state ?? '')) gone.set(request, text);
      else gone.delete(request);
    },
    /** Returns what differs after the last record, each as the rest of a sentence. */
    get faults(): readonly string[] {
      const ofChanges = [...changes].flatMap(([id, text]) => {
        const [stored, expected] = [storedStateText(text), recorded.get(id) ?? 'none'];
        return stored === expected ? [] : `has change ${displayText(id)} as ${stored}, but its records say ${expected}`;
      });
      const author = freeze && storedFreezeText(String(freeze.freeze));
      const ofGone = [...gone].map(([id, text]) => `lacks change ${displayText(id)}, but its records say ${text}`);
      const ofFreeze = `has a freeze by ${author ?? 'nobody'}, but its records say by ${frozenBy ?? 'nobody'}`;
      return [...ofChanges, ...ofGone, ...(author === frozenBy ? [] : [ofFreeze])];
    },
  };
}

function stateText({ state, requested_by: by, appliance }: Readonly<Record<string, unknown>>): string {
  return `${displayText(state)} by ${displayText(by)} on ${displayText(appliance)}`;
}

function storedStateText(text: string): string {
  const stored = parseJson(text);
  return isRecord(stored) && isRecord(stored.change) ? stateText(stored.change) : unreadable;
}

function storedFreezeText(text: string): string {
  const value = parseJson(text);
  return isRecord(value) ? displayText(value.by) : unreadable;
}

const unreadable = 'one that cannot be read';

/** Returns a value that may be forged, for one line. */
function displayText(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify([value]), 100);
}
