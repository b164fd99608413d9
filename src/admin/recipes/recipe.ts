import type { Calls, Write } from './calls.ts';
import { AdminError } from '../policy/admin-error.ts';

/** Several calls that belong together: a plan that only reads, then its steps. */
export interface Recipe {
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  /** The names of the values, with true for a required one. */
  readonly parameters: Readonly<Record<string, boolean>>;
  /** Only reads; rejects with an AdminError when there is nothing to do, or it cannot be done. */
  plan(context: RecipeContext): Promise<Plan>;
}

export interface RecipeContext {
  readonly calls: Pick<Calls, 'appliance' | 'read' | 'readText' | 'dryRun'>;
  readonly values: Readonly<Record<string, string>>;
  /** The time that a step may wait for its effect; each step has a default. */
  readonly waitMs: number | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, for waits. */
  readonly steadyNow: () => number;
  /** When it was asked for, if that was earlier: a name with a time in it stays the same. */
  readonly askedAtMs?: number;
  /** Rejects when the process is asked to stop. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Prints a line about what the step waits for. */
  readonly progress: (line: string) => void;
}

export interface Plan {
  /** Sentences about the present state. */
  readonly facts: readonly string[];
  readonly steps: readonly Step[];
}

export interface Step {
  /** The purpose of the step. */
  readonly title: string;
  /** The call that changes something, if any; the gateway does a dry run of it beforehand. */
  readonly write?: Write;
  /** Resolves to a sentence about the result; rejects with an AdminError. */
  run(send: (write: Write) => Promise<void>): Promise<string>;
  /** The command that undoes the step. */
  readonly undo?: string;
}

/** Returns a step that is one call, and says `done` after it. */
export function callStep({ done, ...step }: Omit<Step, 'run'> & { write: Write; done: string }): Step {
  return {
    ...step,
    async run(send) {
      await send(step.write);
      return done;
    },
  };
}

/** Each read starts a process on the appliance. */
const pollIntervalMs = 5_000;

interface Wait<Seen> {
  readonly read: () => Promise<Seen>;
  readonly isDone: (seen: Seen) => boolean;
  /** Describes what was read, for the person who waits. */
  readonly describe: (seen: Seen) => string;
  readonly withinMs: number;
  /** The advice for the end of the time. */
  readonly remedy: string;
}

/**
 * Reads at once and then every five seconds until `isDone`; rejects with an AdminError when the
 * time is over.
 */
export async function waitUntil<Seen>(
  { steadyNow, sleep, progress }: Pick<RecipeContext, 'steadyNow' | 'sleep' | 'progress'>,
  { read, isDone, describe, withinMs, remedy }: Wait<Seen>,
): Promise<Seen> {
  const deadline = steadyNow() + withinMs;
  let shown = '';
  for (;;) {
    const seen = await read();
    if (isDone(seen)) return seen;
    const description = describe(seen);
    if (steadyNow() >= deadline)
      throw new AdminError('It did not come true in time', { detail: `${description}.`, remedy });
    if (description !== shown) progress(description);
    shown = description;
    await sleep(pollIntervalMs);
  }
}
