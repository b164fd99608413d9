import type { CommandContext } from '../command.ts';

/** The longest lists of an appliance that a person reads are far below. */
export const maxLines = 10_000;

/** Prints at most {@link maxLines} lines; the note about the rest goes to standard error. */
export function printLines(lines: readonly string[], { say, warn }: Pick<CommandContext, 'say' | 'warn'>): void {
  for (const line of lines.slice(0, maxLines)) say(line);
  if (lines.length > maxLines)
    warn(
      `zlb-exporter: these are only the first ${maxLines} lines of a longer answer; --json into a pipe has all of it, and --output=FILE of an operation's`,
    );
}
