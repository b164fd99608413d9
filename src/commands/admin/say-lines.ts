import type { CommandContext } from '../command.ts';

/** More is not for reading; the longest lists of an appliance that a person looks through are far below. */
export const mostLines = 10_000;

/** Shows lines to people up to {@link mostLines}; that there are more is said where a pipe does not swallow it. */
export function sayLines(lines: readonly string[], { say, warn }: Pick<CommandContext, 'say' | 'warn'>): void {
  for (const line of lines.slice(0, mostLines)) say(line);
  if (lines.length > mostLines)
    warn(
      `zlb-exporter: these are only the first ${mostLines} lines of a longer answer; --json into a pipe has all of it, and --output=FILE of an operation's`,
    );
}
