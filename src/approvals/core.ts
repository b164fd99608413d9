import type { Caller } from '../gateway/principal.ts';
import type { AuditJournal } from '../audit/journal.ts';
import { type FreezeSwitch, frozenProblem } from '../gateway/freeze.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Answers } from '../gateway/guards/guard.ts';
import type { Operations } from '../gateway/operation.ts';
import type { Recorder } from '../gateway/recorder.ts';
import type { RecentReads } from '../gateway/request.ts';
import type { Secret } from '../lib/secret.ts';
import { oneLine } from '../lib/text.ts';
import { steadyNow } from '../lib/time.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { AlertSource } from './change-request.ts';
import { createInProcessCalls } from './in-process.ts';
import { type Change, prepare, type PreparedChange, refuseRefused } from './plan.ts';
import { toProblem } from './refusals.ts';
import type { RequestBook, RequestBookParts } from './request-book.ts';

/** The parts of change requests. */
export interface ChangeRequestsParts extends RequestBookParts {
  readonly gateway: Pick<Gateway, 'handle' | 'plan' | 'applianceFor' | 'changesOf'>;
  readonly operations: Operations;
  /** Returns the recipes that may be asked for; a reload may change them. */
  readonly recipes: () => readonly Recipe[];
  readonly recorder: Pick<Recorder, 'record' | 'scrubbed'>;
  readonly journal: Pick<AuditJournal, 'append' | 'query'>;
  readonly freeze: Pick<FreezeSwitch, 'state'>;
  /** How long a request waits, and whether people may approve their own. */
  readonly settings: () => { readonly ttlMs: number; readonly selfApproval: boolean };
  readonly steadyNow: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The parts, and the state that all functions of change requests share. */
export interface ApprovalsCore extends ChangeRequestsParts {
  readonly book: RequestBook;
  readonly stopping: AbortController;
  readonly underWay: Set<Promise<void>>;
  /** The callers whose changes are being planned. */
  readonly asking: Set<Caller>;
}

export interface Preparing extends Omit<AskedChange, 'alerts'> {
  readonly id: string;
  readonly salt: string;
  readonly askedAtMs: number;
}

/** A change, and why. */
export interface AskedChange {
  readonly appliance: string;
  readonly change: Change;
  readonly reason: string | undefined;
  readonly force: boolean;
  /** The alerts whose repair it is, if any. */
  readonly alerts?: readonly AlertSource[];
}

/** Plans with the rights of the actor: nobody learns more than its token may read. */
export async function prepareAs(
  actor: Caller,
  core: ApprovalsCore,
  { id, appliance, change, askedAtMs, ...parts }: Preparing,
): Promise<PreparedChange & { readonly recent: RecentReads }> {
  const answers: Answers = new Map();
  const before = core.gateway.changesOf(appliance);
  const context = {
    calls: createInProcessCalls(core, appliance, { ...actor, id }, { answers }),
    now: core.now,
    steadyNow: core.steadyNow,
    askedAtMs,
    // While it is carried out, nobody who asked is there any more.
    sleep: (ms: number) => core.sleep(ms, core.stopping.signal),
    progress: () => undefined,
  };
  try {
    const prepared = await prepare(change, { context, ...parts });
    // Again: the appliance may have taken its time.
    if (core.freeze.state) throw frozenProblem(core.freeze.state);
    refuseRefused(prepared.plan);
    return { ...prepared, recent: { answers, changes: before, atMs: steadyNow() } };
  } catch (error) {
    throw toProblem(error);
  }
}

const maxReasonLength = 500;

/** Returns what a caller says, in one line and without secrets. */
export function said({ recorder }: ApprovalsCore, text: string | undefined, token: Secret): string | null {
  return text === undefined ? null : oneLine(recorder.scrubbed(text, token), maxReasonLength);
}
