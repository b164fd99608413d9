import type { AuditLine } from '../audit/record.ts';
import { AdminError } from '../recipes/admin-error.ts';
import type { Write } from '../recipes/calls.ts';
import type { Step } from '../recipes/recipe.ts';
import { perhapsBack, runSteps, waysBack } from '../recipes/run-steps.ts';
import type { ChangePlan, Outcome, RequestState } from './change-request.ts';

/** How a request ended. */
export interface Ending extends Omit<Outcome, 'at'> {
  readonly state: Extract<RequestState, 'done' | 'failed' | 'uncertain'>;
}

/** Sends the calls of a request. */
export interface Sender {
  readonly send: (write: Write) => Promise<void>;
  /** Returns true from when the newest call began to leave, whatever became of it. */
  readonly isSent: () => boolean;
}

/**
 * Runs the steps of an approved plan, one after another, and stops at the first that fails. Never
 * sends a call that the plan does not have.
 */
export async function execute(steps: readonly Step[], { send, isSent }: Sender): Promise<Ending> {
  const lines: string[] = [];
  let wasSent = false;
  const failure = await runSteps(steps, {
    async send(write) {
      if (!steps.some((step) => step.write === write))
        throw new TypeError('broken promise: a call that was not planned');
      await send(write).finally(() => (wasSent ||= isSent()));
    },
    isSent,
    onDone: (sentence) => lines.push(`✓ ${sentence}`),
  });
  if (!failure) return { state: 'done', lines, code: null, sent: wasSent };
  const { index, error, carriedOut } = failure;
  if (!(error instanceof AdminError)) throw error;
  const { title, message, remedy, code } = error;
  lines.push(
    `✗ ${steps[index]?.title}: ${sentences(title, message, remedy)}`,
    ...[perhapsBack(steps, failure) ?? []].flat(),
    ...waysBack(steps, failure).map((undo) => `To go back: ${undo}`),
  );
  return { state: carriedOut === 'perhaps' ? 'uncertain' : 'failed', lines, code: code ?? null, sent: wasSent };
}

function sentences(...texts: readonly string[]): string {
  return texts.flatMap((text) => (text === '' ? [] : text.endsWith('.') ? text : `${text}.`)).join(' ');
}

/**
 * Finds out from the audit what became of a request whose exporter was stopped: each of its calls
 * has an intent there before it is sent.
 */
export function endingOf(
  state: 'approved' | 'executing',
  { steps }: ChangePlan,
  records: readonly AuditLine[],
): Ending {
  const planned = steps.filter(({ call }) => call).length;
  const intents = records.filter(({ event }) => event === 'intent').length;
  const outcomes = records.filter(({ event }) => event === 'outcome');
  // After a server error the call may have been carried out; the gateway marks its own codes.
  const isUncertain = ({ status = 500, code, uncertain }: AuditLine): boolean =>
    uncertain === true || (code === undefined && status >= 500);
  const done = outcomes.filter((record) => (record.status ?? 500) < 400 && !isUncertain(record)).length;
  const ended = (ending: Ending['state'], line: string): Ending => ({
    state: ending,
    lines: [line],
    code: null,
    sent: ending !== 'failed' || intents > 0,
  });
  // It is written before the first call. An audit that has been moved away says nothing.
  if (state === 'executing' && !records.some((record) => record.state === state))
    return ended(
      'uncertain',
      '✗ The audit does not have it any more. Its calls may have been made: look at the object.',
    );
  if (state === 'approved' || intents === 0)
    return ended(
      'failed',
      '✗ The exporter was stopped, or could not write, before it was carried out. Nothing was sent.',
    );
  if (outcomes.length < intents || outcomes.some(isUncertain))
    return ended(
      'uncertain',
      '✗ The exporter was stopped during a call, which may have been carried out. Look at the object.',
    );
  const count = `${done} of ${planned} calls were carried out`;
  return done === planned
    ? ended('done', `✓ ${count}; the exporter was stopped before it looked at the result.`)
    : ended('failed', `✗ ${count}, and then the exporter was stopped.`);
}
