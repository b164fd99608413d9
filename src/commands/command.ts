import type { Readable } from 'node:stream';
import type { BuildInfo } from '../build-info.ts';

/** The world as a command sees it. */
export interface CommandContext {
  readonly flags: Flags;
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly build: BuildInfo;
  /** Puts what can be typed here in place of `zlb-exporter` in the commands of a text. */
  readonly spoken: (text: string) => string;
  /** Aborts when the process is asked to stop. */
  readonly stopped: AbortSignal;
  /** Calls `listener` at each SIGHUP from now on, which otherwise ends the process. */
  readonly onHangup: (listener: () => void) => void;
  /** Writes a line for people to standard output, or to standard error. */
  readonly say: (line: string) => void;
  readonly warn: (line: string) => void;
  readonly shell: Shell;
}

/** What is at the other end of the standard streams, for more than lines. */
export interface Shell {
  /** True when a person reads standard output, or a program that takes what it shows for text. */
  readonly outputIsTerminal: boolean;
  /** The text as it is, unless a terminal with colours shows it (NO_COLOR says that there is none). */
  readonly paint: (style: 'bold' | 'green' | 'red' | 'yellow', text: string) => string;
  readonly input: Readable;
  /** Writes bytes to standard output as they are. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Resolves to a line that a person typed; undefined when nobody is there to be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

/** What `--flag=value` said, by flag; dotted as in Prometheus. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Resolves to the exit code. */
export type Command = (context: CommandContext) => Promise<number>;

/** A mistake in how the program was called; ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The text of a flag that has a default. */
export function textFlag(flags: Flags, name: string): string {
  return String(flags[name] ?? '');
}

/** The text of a flag that may be left out. */
export function optionalFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}
