import { assert } from '../../lib/check.ts';
import type { AdminCall, CallPermit } from '../calls/admin-call.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem, neverChanged } from '../policy/problem.ts';
import type { Step } from '../recipes/recipe.ts';
import { type ChangeCalls, createRecipeContext } from './change-calls.ts';
import type { Change, ChangePlan, Ending, StepEvent } from './change.ts';
import type { ChangeEntry } from './change-store.ts';
import type { ChangesContext } from './context.ts';
import type { PlannedChange } from './plan.ts';
import { secretsOf } from './task.ts';

export interface RunOptions {
  readonly planned: PlannedChange;
  /** In whose name it runs; its signal aborts when nobody waits for it any more. */
  readonly runner: Caller;
  /** Called with what the steps do. */
  readonly onEvent: (event: StepEvent) => void;
}

/** A change that runs, or that waits for approval. */
export interface StartedChange {
  readonly change: Change;
  /**
   * Resolves when it is over, or when a stop of the exporter ends it: then the next start finds out
   * what became of it. Undefined for one that waits.
   */
  readonly over: Promise<Change> | undefined;
}

/**
 * Saves a change as approved and starts to run it; nothing else runs a change. Rejects if another one
 * changes the same object, or if it cannot be saved. The claim comes first, so that two approvals for
 * one object cannot both be on disk.
 */
export async function startRun(
  context: ChangesContext,
  options: RunOptions,
  saveApproved: () => Promise<ChangeEntry>,
): Promise<StartedChange> {
  const { store, underWay, log } = context;
  const { id, plan } = options.planned;
  store.claim(id, urlsOf(plan));
  const entry = await saveApproved().catch((error: unknown) => {
    store.release(id);
    throw error;
  });
  const over = runChange(context, entry, options)
    .catch((error: unknown) => {
      // It stays open on disk. The next sweep stores how it ended, or asks the journal if nobody knows.
      log.error({ err: error, change: id }, 'change broke off');
    })
    .finally(() => {
      store.release(id);
      underWay.delete(over);
    })
    .then(() => entry.change);
  underWay.add(over);
  return { change: entry.change, over };
}

async function runChange(
  context: ChangesContext,
  entry: ChangeEntry,
  { planned, runner, onEvent }: RunOptions,
): Promise<void> {
  const sent = secretsOf(planned.task);
  const redacted = (text: string): string => context.recorder.redact(text, runner.token, maxLine, sent) ?? '';
  await context.store.transition(entry, { state: 'executing' });
  const permit = permitFor(entry.change, planned);
  // A rollback goes on when nobody waits any more: only a stop of the exporter ends it.
  const rollbackContext = createRecipeContext(context, {
    input: planned,
    permit: { ...permit, isRollback: true },
    caller: { ...runner, signal: context.stopping.signal },
  });
  const ending = await runSteps(planned.steps, {
    calls: createRecipeContext(context, { input: planned, permit, caller: runner }).calls,
    signal: runner.signal,
    runRollback: async ({ rollback }) => (await rollback?.run(rollbackContext, rollbackContext.calls.write)) ?? '',
    onEvent: (event) => onEvent('line' in event ? { ...event, line: redacted(event.line) } : event),
  });
  if (context.stopping.signal.aborted && ending.state !== 'done') return;
  entry.ending = { ...ending, lines: ending.lines.map(redacted) };
  await context.store.transition(entry, entry.ending);
}

const maxLine = 2_000;

/** Returns what the calls of the steps of a change may not differ from. */
export function permitFor(
  { requested_by: requestedBy, decision }: Pick<Change, 'requested_by' | 'decision'>,
  { plan, reads }: Pick<PlannedChange, 'plan' | 'reads'>,
): CallPermit {
  const blocking = plan.steps.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'blocking'));
  const isApproved = decision?.what === 'approved';
  return {
    requestedBy,
    approvedBy: isApproved && decision.by !== requestedBy ? decision.by : undefined,
    isApproved,
    isRollback: false,
    urls: urlsOf(plan),
    guards: new Set(blocking.map(({ guard }) => guard)),
    reads,
  };
}

/** Returns the addresses of the calls of a plan, also of those of a rollback. */
function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call, way_back: back = [] }) => [call, ...back].flatMap((each) => each?.url ?? [])));
}

export interface StepParts {
  readonly calls: Pick<ChangeCalls, 'buildCall' | 'send' | 'read'>;
  /** Aborts when nobody waits for the change any more: no further step is begun. */
  readonly signal: AbortSignal;
  /** Runs the rollback of a step that failed; resolves to a sentence. */
  readonly runRollback: (step: Step) => Promise<string>;
  /** Called with what the steps do. */
  readonly onEvent: (event: StepEvent) => void;
}

interface StepFailure {
  readonly index: number;
  readonly error: AdminError;
  readonly carriedOut: 'no' | 'perhaps' | 'yes';
}

/**
 * Runs the steps of a plan, one after another. Stops at the first that fails, and runs its rollback if
 * it has one. Never sends a call that the plan does not have.
 */
export async function runSteps(steps: readonly Step[], parts: StepParts): Promise<Ending> {
  const lines: string[] = [];
  let wasSent = false;
  for (const [index, step] of steps.entries()) {
    const number = index + 1;
    parts.onEvent({ event: 'begin', step: number, title: step.title });
    const result = await runStep(step, parts);
    wasSent ||= result.isSent;
    const isDone = 'done' in result;
    const line = isDone ? `✓ ${number}. ${result.done}` : `✗ ${number}. ${step.title}: ${sentencesOf(result.error)}`;
    lines.push(line);
    parts.onEvent({ event: 'end', step: number, ok: isDone, line });
    if (isDone) continue;
    const failure = { index, ...result };
    const { code } = failure.error;
    const state = failure.carriedOut === 'perhaps' ? 'uncertain' : 'failed';
    lines.push(...progressLines(steps, failure), ...(await rollbackLines(steps, failure, parts)));
    return { state, lines, code: code ?? null, sent: wasSent };
  }
  return { state: 'done', lines, code: null, sent: wasSent };
}

type StepResult = { readonly isSent: boolean } & (
  | { readonly done: string }
  | Pick<StepFailure, 'error' | 'carriedOut'>
);

async function runStep(step: Step, { calls, signal }: StepParts): Promise<StepResult> {
  let call: Pick<AdminCall, 'stage'> | undefined;
  let isAnswered = false;
  try {
    if (signal.aborted) throw callerLeftStep('before');
    const done = await step.run(async (write) => {
      assert(write === step.write, 'a step sends only its planned call');
      const next = calls.buildCall(write);
      call = next;
      await calls.send(next);
      isAnswered = true;
    }, calls);
    return { done, isSent: call?.stage === 'sent' };
  } catch (thrown) {
    const error = signal.aborted && !(thrown instanceof AdminError) ? callerLeftStep('during') : thrown;
    if (!(error instanceof AdminError)) throw error;
    const isSent = call?.stage === 'sent';
    if (isAnswered) return { error, isSent, carriedOut: 'yes' };
    return { error, isSent, carriedOut: isSent && mayHaveRun(error) ? 'perhaps' : 'no' };
  }
}

function callerLeftStep(when: 'before' | 'during'): AdminProblem {
  return new AdminProblem('caller_left', {
    detail: `The caller left ${when} this step.`,
    remedy: 'Ask again if it is still wanted.',
  });
}

/** Returns true if a call that left and failed may have been carried out. */
function mayHaveRun({ status, code }: AdminError): boolean {
  if (code !== undefined && neverChanged(code)) return false;
  // A call that had begun to leave, and was cut.
  if (code === 'caller_left' || code === 'frozen') return true;
  return status === undefined || status >= 500;
}

function progressLines(steps: readonly Step[], { index, carriedOut }: StepFailure): readonly string[] {
  const numbered = steps.map(({ title, write }, at) => ({ text: `${at + 1}. ${title}`, write }));
  const changed = numbered.slice(0, carriedOut === 'yes' ? index + 1 : index).filter(({ write }) => write);
  const after = numbered.slice(index + 1);
  const titles = (some: typeof numbered): string => some.map(({ text }) => text).join('; ');
  return [
    changed.length === 0 ? 'Nothing was changed before that.' : `Done: ${titles(changed)}.`,
    ...(after.length === 0 ? [] : [`Not done: ${titles(after)}.`]),
  ];
}

/** Runs the rollback, or returns the commands that undo the steps, the newest first. */
async function rollbackLines(
  steps: readonly Step[],
  { index, carriedOut }: StepFailure,
  { runRollback }: StepParts,
): Promise<readonly string[]> {
  const failed = steps[index];
  if (failed?.rollback) {
    try {
      return [await runRollback(failed)];
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      return [`The rollback failed: ${sentencesOf(error)} ${failed.rollback.manualRemedy}`];
    }
  }
  const perhaps = carriedOut === 'perhaps' ? failed?.undoCommand : undefined;
  const done = steps.slice(0, carriedOut === 'yes' ? index + 1 : index);
  return [
    ...(perhaps === undefined ? [] : [`If step ${index + 1} was carried out nevertheless, undo it with: ${perhaps}`]),
    ...done
      .flatMap(({ undoCommand }) => undoCommand ?? [])
      .reverse()
      .map((command) => `To go back: ${command}`),
  ];
}

function sentencesOf({ title, message, remedy }: AdminError): string {
  return [title, message, remedy]
    .flatMap((text) => (text === '' ? [] : text.endsWith('.') ? text : `${text}.`))
    .join(' ');
}
