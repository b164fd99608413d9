import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileKindError, makeFolder, readShort, syncFolder, writeSynced } from '../../lib/disk.ts';
import { errorCode, isOneOf, isRecord, parseJson } from '../../lib/check.ts';
import type { OperationCall } from './operation.ts';
import { changes } from './policy.ts';
import { AdminProblem } from './problem.ts';

/** Describes a freeze: its author, its reason and its time. */
export interface Freeze {
  readonly by: string;
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/**
 * The switch that refuses all changes on all appliances. Stored in a file, so that a restart does
 * not thaw.
 */
export interface FreezeSwitch {
  readonly state: Freeze | undefined;
  /**
   * Aborts with a `frozen` {@link AdminProblem} when changes are frozen; each thaw replaces it by a
   * new signal.
   */
  readonly signal: AbortSignal;
  /** Freezes all changes. Rejects if the file cannot be written; then nothing has changed. */
  freeze(by: string, reason: string): Promise<Freeze>;
  thaw(): Promise<void>;
}

const remedyOfKind = 'move it away and start the exporter again';
/** The file contains one short line. */
const maxBytes = 65_536;

/**
 * Reads whether changes are frozen. A file that cannot be read counts as frozen, since somebody
 * made it. Rejects with a FileKindError for a path that is no regular file: a thaw could not remove
 * it.
 */
export async function openFreezeSwitch(file: string, now: () => number): Promise<FreezeSwitch> {
  let state = await readState(file);
  let thawed = new AbortController();
  if (state) thawed.abort(frozenProblem(state));
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one change of the switch after the other, so that memory and file agree. */
  function inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const done = last.then(change);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    get state() {
      return state;
    },
    get signal() {
      return thawed.signal;
    },
    freeze: (by, reason) =>
      inTurn(async () => {
        const wanted = { by, reason, since: new Date(now()).toISOString() };
        await writeState(file, wanted);
        state = wanted;
        thawed.abort(frozenProblem(wanted));
        return wanted;
      }),
    thaw: () =>
      inTurn(async () => {
        // After a loss of power the file may reappear: then all changes are frozen, which somebody
        // notices.
        await rm(file, { force: true });
        state = undefined;
        if (thawed.signal.aborted) thawed = new AbortController();
      }),
  };
}

/** Throws an {@link AdminProblem} for a change while changes are frozen. */
export function refuseFrozen({ state }: Pick<FreezeSwitch, 'state'>, { operation }: OperationCall): void {
  if (state && changes(operation.row.risk)) throw frozenProblem(state);
}

/** Returns the refusal of a call while changes are frozen, with who froze them and why. */
export function frozenProblem({ by, since, reason }: Freeze, outcome = 'Nothing was sent.'): AdminProblem {
  return new AdminProblem('frozen', {
    detail: `${by} froze all changes on ${since}: ${reason}. ${outcome}`,
    remedy: 'Reads still work. An admin lifts it with DELETE /freeze.',
  });
}

async function readState(file: string): Promise<Freeze | undefined> {
  try {
    const value = parseJson(await readShort(file, maxBytes));
    if (!isRecord(value)) return unreadable(file);
    return { by: String(value.by), reason: String(value.reason), since: String(value.since) };
  } catch (error) {
    if (error instanceof FileKindError)
      throw new FileKindError(`cannot read whether changes are frozen: ${error.message}; ${remedyOfKind}`);
    return isOneOf(['ENOENT', 'ENOTDIR'], errorCode(error)) ? undefined : unreadable(file);
  }
}

function unreadable(file: string): Freeze {
  return { by: 'unknown', reason: `${file} is there and cannot be read`, since: 'unknown' };
}

/**
 * Writes the file under another name first: a crash leaves the old or the new state, and after
 * resolving, a loss of power leaves the new one.
 */
async function writeState(file: string, state: Freeze): Promise<void> {
  await makeFolder(dirname(file));
  const draft = `${file}.new`;
  await writeSynced(draft, `${JSON.stringify(state)}\n`);
  await rename(draft, file);
  await syncFolder(file);
}
