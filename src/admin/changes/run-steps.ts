import { AdminError } from '../policy/admin-error.ts';
import { AdminProblem, neverChanged } from '../policy/problem.ts';
import type { Write } from '../recipes/calls.ts';
import type { Step } from '../recipes/recipe.ts';
import type { Ending, StepEvent } from './change.ts';

/** Sends the calls of a change. */
export interface StepSender {
  readonly send: (write: Write) => Promise<void>;
  /** Returns true from when the newest call began to leave, whatever became of it. */
  readonly isSent: () => boolean;
  /** Aborts when nobody waits for the change any more: no further step is begun. */
  readonly signal: AbortSignal;
  /** Runs the way back of a step that failed; resolves to a sentence. */
  readonly goBack: (step: Step) => Promise<string>;
  /** Told what the steps do. */
  readonly tell: (event: StepEvent) => void;
}

/** A step that failed, after which no other was begun. */
interface StepFailure {
  readonly index: number;
  readonly error: AdminError;
  /** Whether the appliance carried out the call of the step. */
  readonly carriedOut: 'no' | 'perhaps' | 'yes';
}

/**
 * Runs the steps of a plan, one after another, and stops at the first that fails; then the way back
 * is gone, if the step has one. Never sends a call that the plan does not have.
 */
export async function runSteps(steps: readonly Step[], sender: StepSender): Promise<Ending> {
  const lines: string[] = [];
  let wasSent = false;
  for (const [index, step] of steps.entries()) {
    const number = index + 1;
    sender.tell({ event: 'begin', step: number, title: step.title });
    const result = await runStep(step, sender);
    wasSent ||= result.isSent;
    const isDone = 'done' in result;
    const line = isDone ? `✓ ${number}. ${result.done}` : `✗ ${number}. ${failureOf(step, result.error)}`;
    lines.push(line);
    sender.tell({ event: 'end', step: number, ok: isDone, line });
    if (isDone) continue;
    const failure = { index, ...result };
    const { code } = failure.error;
    const state = failure.carriedOut === 'perhaps' ? 'uncertain' : 'failed';
    lines.push(...afterwards(steps, failure), ...(await backLines(steps, failure, sender)));
    return { state, lines, code: code ?? null, sent: wasSent };
  }
  return { state: 'done', lines, code: null, sent: wasSent };
}

type StepResult = { readonly isSent: boolean } & (
  | { readonly done: string }
  | Pick<StepFailure, 'error' | 'carriedOut'>
);

async function runStep(step: Step, { send, isSent, signal }: StepSender): Promise<StepResult> {
  let call: 'none' | 'under way' | 'over' = 'none';
  let wasSent = false;
  try {
    if (signal.aborted) throw stopped('before');
    const done = await step.run(async (write) => {
      if (write !== step.write) throw new TypeError('broken promise: a call that was not planned');
      call = 'under way';
      await send(write).finally(() => (wasSent ||= isSent()));
      call = 'over';
    });
    return { done, isSent: wasSent };
  } catch (thrown) {
    const error = signal.aborted && !(thrown instanceof AdminError) ? stopped('during') : thrown;
    if (!(error instanceof AdminError)) throw error;
    return { error, carriedOut: carriedOut(call, error, wasSent), isSent: wasSent };
  }
}

function stopped(when: 'before' | 'during'): AdminProblem {
  return new AdminProblem('caller_left', {
    detail: `Nobody waited any more ${when} this step.`,
    remedy: 'Ask again if it is still wanted.',
  });
}

function carriedOut(call: string, error: AdminError, isSent: boolean): StepFailure['carriedOut'] {
  if (call === 'over') return 'yes';
  return call === 'under way' && isSent && mayHaveRun(error) ? 'perhaps' : 'no';
}

/** Returns true if a call that left and failed may have been carried out. */
function mayHaveRun({ status, code }: AdminError): boolean {
  if (code !== undefined && neverChanged(code)) return false;
  // A call that had begun to leave, and was cut.
  if (code === 'caller_left' || code === 'frozen') return true;
  return status === undefined || status >= 500;
}

function failureOf({ title }: Step, { title: what, message, remedy }: AdminError): string {
  return `${title}: ${sentences(what, message, remedy)}`;
}

/** Returns what is done and what is not. */
function afterwards(steps: readonly Step[], { index, carriedOut }: StepFailure): readonly string[] {
  const numbered = steps.map(({ title, write }, at) => ({ text: `${at + 1}. ${title}`, write }));
  const changed = numbered.slice(0, carriedOut === 'yes' ? index + 1 : index).filter(({ write }) => write);
  const after = numbered.slice(index + 1);
  const texts = (some: typeof numbered): string => some.map(({ text }) => text).join('; ');
  return [
    changed.length === 0 ? 'Nothing was changed before that.' : `Done: ${texts(changed)}.`,
    ...(after.length === 0 ? [] : [`Not done: ${texts(after)}.`]),
  ];
}

/** Goes the way back, or names the commands that do, the newest first. */
async function backLines(
  steps: readonly Step[],
  { index, carriedOut }: StepFailure,
  { goBack }: StepSender,
): Promise<readonly string[]> {
  const failed = steps[index];
  if (failed?.wayBack) {
    try {
      return [await goBack(failed)];
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      const { title, message, remedy } = error;
      return [`It could not be put back: ${sentences(title, message, remedy)} ${failed.wayBack.otherwise}`];
    }
  }
  const perhaps = carriedOut === 'perhaps' ? failed?.undo : undefined;
  const done = steps.slice(0, carriedOut === 'yes' ? index + 1 : index);
  return [
    ...(perhaps === undefined ? [] : [`If step ${index + 1} was carried out nevertheless, undo it with: ${perhaps}`]),
    ...done
      .flatMap(({ undo }) => undo ?? [])
      .reverse()
      .map((undo) => `To go back: ${undo}`),
  ];
}

function sentences(...texts: readonly string[]): string {
  return texts.flatMap((text) => (text === '' ? [] : text.endsWith('.') ? text : `${text}.`)).join(' ');
}
