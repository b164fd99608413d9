import type { Calls, Write } from '../calls.ts';

/** Several calls that belong together. Looks first and says what it will do; only then it does it. */
export interface Recipe {
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  /** The values that it takes, and whether it needs them. */
  readonly parameters: Readonly<Record<string, boolean>>;
  /** Reads and nothing else; rejects with an AdminError when there is nothing to be done, or no way to. */
  plan(context: RecipeContext): Promise<Plan>;
}

export interface RecipeContext {
  readonly calls: Pick<Calls, 'appliance' | 'read' | 'readAny'>;
  readonly values: Readonly<Record<string, string>>;
  /** How long a step may wait for what it caused; each has its own usual time. */
  readonly waitMs: number | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Rejects when the process is asked to stop. */
  readonly sleep: (ms: number) => Promise<void>;
  /** A line about what is being waited for. */
  readonly progress: (line: string) => void;
}

export interface Plan {
  /** How things are, as far as it matters. */
  readonly facts: readonly string[];
  readonly steps: readonly Step[];
}

export interface Step {
  /** What will be done. */
  readonly title: string;
  /** The call that changes something, where there is one; the gateway is asked about it beforehand. */
  readonly write?: Write;
  /** Resolves to what came of it, in a sentence; rejects with an AdminError. */
  run(send: (write: Write) => Promise<void>): Promise<string>;
  /** How to go back once it is done. */
  readonly undo?: string;
}

/** A step that is one call. */
export function callStep(parts: {
  readonly title: string;
  readonly write: Write;
  readonly done: string;
  readonly undo?: string;
}): Step {
  const { title, write, done, undo } = parts;
  return {
    title,
    write,
    async run(send) {
      await send(write);
      return done;
    },
    ...(undo === undefined ? {} : { undo }),
  };
}
