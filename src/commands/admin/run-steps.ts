import { oneLine } from '../../lib/text.ts';
import { AdminError } from './admin-error.ts';
import type { Write } from './calls.ts';
import type { Step } from './recipes/recipe.ts';
import type { AdminSession } from './session.ts';

/** Runs steps one after another. A failed step ends the run, and prints what is done, what is not, and how to go back. */
export async function runSteps(
  steps: readonly Step[],
  send: (write: Write) => Promise<void>,
  { say, warn }: Pick<AdminSession, 'say' | 'warn'>,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    try {
      say(`✓ ${index + 1}. ${oneLine(await step.run(send), 2_000)}`);
    } catch (error) {
      if (!(error instanceof AdminError) && !isAbort(error)) throw error;
      say(`✗ ${index + 1}. ${oneLine(step.title, 500)}`);
      for (const line of failureLines(steps, index, error)) warn(line);
      throw error;
    }
  }
}

function failureLines(steps: readonly Step[], failed: number, error: unknown): readonly string[] {
  const before = steps.slice(0, failed);
  const after = steps.slice(failed + 1);
  const changed = before.filter(({ write }) => write);
  const undo = steps[failed]?.undo;
  const back = changed.flatMap(({ undo }) => undo ?? []).reverse();
  return [
    changed.length === 0 ? 'Nothing was changed before that.' : `Done: ${titles(changed, steps)}.`,
    ...(after.length === 0 ? [] : [`Not done: ${titles(after, steps)}.`]),
    ...(undo !== undefined && mayHaveRun(error)
      ? [`If step ${failed + 1} was carried out all the same, undo it with: ${oneLine(undo, 500)}`]
      : []),
    ...(back.length === 0 ? [] : ['To go back:', ...back.map((text) => `  ${oneLine(text, 500)}`)]),
  ];
}

function titles(some: readonly Step[], all: readonly Step[]): string {
  return some.map((step) => `${all.indexOf(step) + 1}. ${oneLine(step.title, 500)}`).join('; ');
}

/** False for a refusal with a status below 500. After no answer or a server error, the call may have been carried out. */
function mayHaveRun(error: unknown): boolean {
  return !(error instanceof AdminError) || error.status === undefined || error.status >= 500;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
