import { isRecord, parseJson } from '../../lib/check.ts';
import type { OperationCall } from './operation.ts';
import { isChange } from './policy.ts';
import { AdminProblem } from './problem.ts';

/** Describes a freeze: its author, its reason and its time. */
export interface Freeze {
  readonly by: string;
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/** Puts a freeze into the journal, as a text, with its record; null lifts it. */
type Keep = (freeze: string | null) => Promise<unknown>;

interface Unkept {
  readonly freeze: Freeze;
  readonly keep: Keep;
}

/** The switch that refuses all changes on all appliances. The journal keeps it over a restart. */
export type FreezeSwitch = ReturnType<typeof createFreezeSwitch>;

export function createFreezeSwitch(now: () => number, onChanged: (isFrozen: boolean) => void) {
  let state: Freeze | undefined;
  let freezing = new AbortController();
  /** The present freeze until it is kept. */
  let unkept: Unkept | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Writes one after another, so that memory and journal agree. */
  function inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
    const done = last.then(write);
    last = done.catch(() => undefined);
    return done;
  }

  function enter(wanted: Freeze): void {
    state = wanted;
    freezing.abort(frozenProblem(wanted));
    onChanged(true);
  }

  function leave(): void {
    state = undefined;
    unkept = undefined;
    if (freezing.signal.aborted) freezing = new AbortController();
    onChanged(false);
  }

  async function keepNow(own: Unkept | undefined): Promise<void> {
    if (!own) return;
    await own.keep(JSON.stringify(own.freeze));
    if (unkept === own) unkept = undefined;
  }

  return {
    get state() {
      return state;
    },
    /** False while a freeze is only in memory, because the journal cannot be written. */
    get isKept() {
      return unkept === undefined;
    },
    /**
     * Aborts with a `frozen` {@link AdminProblem} when changes are frozen; each thaw replaces it by
     * a new signal.
     */
    get signal() {
      return freezing.signal;
    },
    /** Freezes all changes at once, and resolves when it is kept, or that failed. */
    async freeze(freeze: Omit<Freeze, 'since'>, keep: Keep): Promise<void> {
      const wanted = { ...freeze, since: new Date(now()).toISOString() };
      const own = { freeze: wanted, keep };
      enter(wanted);
      unkept = own;
      await inTurn(() => keepNow(own)).catch(() => undefined);
    },
    /** Rejects, and changes stay frozen, if it cannot be kept. */
    thaw(keep: Keep): Promise<void> {
      const lifted = state;
      return inTurn(async () => {
        if (unkept?.freeze === lifted) await keepNow(unkept);
        await keep(null);
        // Somebody may have frozen again meanwhile.
        if (state === lifted) leave();
      });
    },
    /** Tries again to keep a freeze that is only in memory. */
    keepAgain: () => inTurn(() => keepNow(unkept)).catch(() => undefined),
    /** Takes over what the journal has when it is opened. */
    found(freeze: string | undefined): void {
      if (unkept) return;
      if (freeze !== undefined) enter(parseFreeze(freeze));
      else if (state) leave();
    },
  };
}

function parseFreeze(text: string): Freeze {
  const value = parseJson(text);
  const { by = 'unknown', reason = 'unknown', since = 'unknown' } = isRecord(value) ? value : {};
  return { by: String(by), reason: String(reason), since: String(since) };
}

/** Throws an {@link AdminProblem} for a change while changes are frozen. */
export function refuseFrozen({ state }: Pick<FreezeSwitch, 'state'>, call: OperationCall): void {
  if (state && isChange(call)) throw frozenProblem(state);
}

/** Returns the refusal of a call while changes are frozen, with who froze them and why. */
export function frozenProblem({ by, since, reason }: Freeze, outcome = 'Nothing was sent.'): AdminProblem {
  return new AdminProblem('frozen', { detail: `${by} froze all changes on ${since}: ${reason}. ${outcome}` });
}
