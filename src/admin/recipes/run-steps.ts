import { neverChanged } from '../policy/problem.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { Write } from './calls.ts';
import type { Step } from './recipe.ts';

/** A step that failed, after which no other was begun. */
export interface StepFailure {
  readonly index: number;
  readonly error: unknown;
  /** Whether the appliance carried out the call of the step. */
  readonly carriedOut: 'no' | 'perhaps' | 'yes';
}

interface StepRun {
  readonly send: (write: Write) => Promise<void>;
  /** Returns false if the newest call never began to leave; undefined where nobody can tell. */
  readonly isSent?: () => boolean;
  /** Called after each step that succeeded, with its sentence. */
  readonly onDone: (sentence: string, index: number) => void;
}

/**
 * Runs steps one after another and stops at the first that fails, for the command line and for
 * changes alike. Resolves to the failure, if there is one.
 */
export async function runSteps(
  steps: readonly Step[],
  { send, isSent, onDone }: StepRun,
): Promise<StepFailure | undefined> {
  for (const [index, step] of steps.entries()) {
    let call: 'none' | 'under way' | 'over' = 'none';
    try {
      const sentence = await step.run(async (write) => {
        call = 'under way';
        await send(write);
        call = 'over';
      });
      onDone(sentence, index);
    } catch (error) {
      return { index, error, carriedOut: carriedOut(call, error, isSent?.()) };
    }
  }
  return undefined;
}

function carriedOut(call: string, error: unknown, isSent: boolean | undefined): StepFailure['carriedOut'] {
  if (call === 'over') return 'yes';
  return call === 'under way' && mayHaveRun(error, isSent) ? 'perhaps' : 'no';
}

/** Returns true if a call that failed may have been carried out. */
function mayHaveRun(error: unknown, isSent: boolean | undefined): boolean {
  if (isSent === false) return false;
  if (!(error instanceof AdminError)) return true;
  const { status, code } = error;
  if (code !== undefined && neverChanged(code)) return false;
  // A call that had begun to leave, and was cut.
  if (code === 'caller_left' || code === 'frozen') return isSent === true;
  return status === undefined || status >= 500;
}

/** Returns the commands that undo what was carried out for certain, the newest first. */
export function waysBack(steps: readonly Step[], { index, carriedOut }: StepFailure): readonly string[] {
  return steps
    .slice(0, carriedOut === 'yes' ? index + 1 : index)
    .flatMap(({ undo }) => undo ?? [])
    .reverse();
}

/** Returns the sentence for a step that may have been carried out; undefined for any other. */
export function perhapsBack(steps: readonly Step[], { index, carriedOut }: StepFailure): string | undefined {
  const undo = steps[index]?.undo;
  if (carriedOut !== 'perhaps' || undo === undefined) return undefined;
  return `If step ${index + 1} was carried out nevertheless, undo it with: ${undo}`;
}
