import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { BuildInfo } from '../app/build-info.ts';
import { errorCode, toError } from '../lib/check.ts';
import type { Flags } from './flags.ts';

/** Everything outside of a command that it uses; the process gives it. */
export interface CommandContext {
  readonly flags: Flags;
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly build: BuildInfo;
  /** Replaces `zlb-exporter` in the commands of a text by the command that works here. */
  readonly withCommandName: (text: string) => string;
  /** Aborts when the process is asked to stop. */
  readonly stopped: AbortSignal;
  /** Calls `listener` at each SIGHUP, which otherwise ends the process. */
  readonly onHangup: (listener: () => void) => void;
  /** Write a line for people, to standard output and to standard error. */
  readonly printOut: (line: string) => void;
  readonly printErr: (line: string) => void;
  readonly shell: Shell;
  /** Returns Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly steadyNow: () => number;
  /** Rejects when the process is asked to stop. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The standard streams, for more than lines. */
export interface Shell {
  readonly outputIsTerminal: boolean;
  /** Returns the text with a colour on terminals that have colours, unless NO_COLOR is set. */
  readonly paint: (style: 'bold' | 'green' | 'red' | 'yellow', text: string) => string;
  readonly input: Readable;
  /** Writes bytes to standard output; a terminal gets no control characters. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Resolves to a line that a person typed, unseen if `hidden`; undefined without a terminal. */
  readonly ask: ((question: string, hidden?: boolean) => Promise<string>) | undefined;
}

/** Resolves to the exit code. */
export type Command = (context: CommandContext) => Promise<number>;

/** A mistake on the command line; ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Standard output did not take a result, such as a file on a full disk; ends with exit code 1. */
export class OutputError extends Error {
  override readonly name = 'OutputError';

  constructor(cause: unknown) {
    super(
      `the output could not be written (${errorCode(cause) || toError(cause).message}) and is not whole: make room, and ask again; look first whether a change was made`,
      { cause },
    );
  }
}

/** The address of the metrics listener, unless a flag gives another one. */
export const defaultListenAddress = ':9444';

/** Waits until the process is asked to stop, then closes the parts one after the other. */
export async function untilStopped(
  stopped: AbortSignal,
  ...parts: readonly { close(): Promise<void> }[]
): Promise<void> {
  if (!stopped.aborted) await once(stopped, 'abort');
  for (const part of parts) await part.close();
}
