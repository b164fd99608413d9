import { readFileSync } from 'node:fs';

/** Returns the words of the command in a document that begins so, as a shell splits them. */
export function wordsOf(path: string, begin: string): readonly string[] {
  const commands = readFileSync(path, 'utf8').replaceAll('\\\n', ' ').split('\n');
  const command = commands.find((line) => line.startsWith(begin)) ?? '';
  const words = command.replace(/\s#.*/, '').matchAll(/'([^']*)'|(\S+)/g);
  return [...words].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
