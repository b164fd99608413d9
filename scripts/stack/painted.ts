import { styleText } from 'node:util';

/**
 * A line with the state of an alert in colour, where a terminal shows it that has some (NO_COLOR
 * says that it has none).
 */
export function painted(line: string, output: NodeJS.WriteStream): string {
  if (!output.isTTY) return line;
  return line
    .replace(/(?<=^[\d:]+ )FIRING/, (word) => styleText('red', word, { stream: output }))
    .replace(/(?<=^[\d:]+ )RESOLVED/, (word) => styleText('green', word, { stream: output }));
}
