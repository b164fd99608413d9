import { isRecord, parseJson } from '../../lib/check.ts';
import { isSame } from '../../lib/same.ts';
import type { OperationCall } from './operation.ts';
import { isWrite } from './policy.ts';
import { AdminProblem } from './problem.ts';

export interface Freeze {
  readonly by: string;
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/** Writes a freeze to the journal, as a text, with its record; null lifts it. */
type WriteState = (freeze: string | null) => Promise<unknown>;

interface UnsavedFreeze {
  readonly freeze: Freeze;
  readonly writeState: WriteState;
}

/** The switch that refuses all writes to all appliances. The journal keeps it over a restart. */
export type FreezeSwitch = ReturnType<typeof createFreezeSwitch>;

export function createFreezeSwitch(now: () => number, onChanged: (isFrozen: boolean) => void) {
  let state: Freeze | undefined;
  let freezing = new AbortController();
  /** The present freeze until it is on disk. */
  let unsaved: UnsavedFreeze | undefined;
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** Writes one after another, so that memory and journal agree. */
  function inSequence<Value>(write: () => Promise<Value>): Promise<Value> {
    const done = lastWrite.then(write);
    lastWrite = done.catch(() => undefined);
    return done;
  }

  function setFrozen(wanted: Freeze): void {
    state = wanted;
    freezing.abort(frozenProblem(wanted));
    onChanged(true);
  }

  function clear(): void {
    state = undefined;
    unsaved = undefined;
    if (freezing.signal.aborted) freezing = new AbortController();
    onChanged(false);
  }

  async function save(pending: UnsavedFreeze | undefined): Promise<void> {
    if (!pending) return;
    await pending.writeState(JSON.stringify(pending.freeze));
    if (unsaved === pending) unsaved = undefined;
  }

  return {
    get state() {
      return state;
    },
    /** False while a freeze is only in memory, because the journal cannot be written. */
    get isSaved() {
      return unsaved === undefined;
    },
    /**
     * Aborts with a `frozen` {@link AdminProblem} when changes are frozen; each unfreeze replaces
     * it by a new signal.
     */
    get signal() {
      return freezing.signal;
    },
    /** Freezes at once, and resolves when that is on disk, or could not be written. */
    async freeze(freeze: Omit<Freeze, 'since'>, writeState: WriteState): Promise<void> {
      const wanted = { ...freeze, since: new Date(now()).toISOString() };
      const pending = { freeze: wanted, writeState };
      setFrozen(wanted);
      unsaved = pending;
      await inSequence(() => save(pending)).catch(() => undefined);
    },
    /** Rejects, and changes stay frozen, if it cannot be written. */
    unfreeze(writeState: WriteState): Promise<void> {
      const lifted = state;
      return inSequence(async () => {
        if (unsaved?.freeze === lifted) await save(unsaved);
        await writeState(null);
        // Somebody may have frozen again meanwhile.
        if (state === lifted) clear();
      });
    },
    /** Tries again to save a freeze that is only in memory. */
    retrySave: () => inSequence(() => save(unsaved)).catch(() => undefined),
    /** Loads what the journal has when it is opened. */
    load(freeze: string | undefined): void {
      if (unsaved) return;
      const loaded = freeze === undefined ? undefined : parseFreeze(freeze);
      // The same freeze stays the same object: its unfreeze may be what opens the journal again.
      if (isSame(loaded, state)) return;
      if (loaded) setFrozen(loaded);
      else clear();
    },
  };
}

function parseFreeze(text: string): Freeze {
  const value = parseJson(text);
  const { by = 'unknown', reason = 'unknown', since = 'unknown' } = isRecord(value) ? value : {};
  return { by: String(by), reason: String(reason), since: String(since) };
}

/** Throws an {@link AdminProblem} for a write while changes are frozen. */
export function assertNotFrozen({ state }: Pick<FreezeSwitch, 'state'>, call: OperationCall): void {
  if (state && isWrite(call)) throw frozenProblem(state);
}

/** Returns the refusal of a call while changes are frozen, with who froze them and why. */
export function frozenProblem({ by, since, reason }: Freeze, outcome = 'Nothing was sent.'): AdminProblem {
  return new AdminProblem('frozen', { detail: `${by} froze all changes on ${since}: ${reason}. ${outcome}` });
}
