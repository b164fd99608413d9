import { expect, it } from 'vitest';
import { isCommand } from '../../../src/commands/commands.ts';
import { parseFlags, assertFlagsTaken } from '../../../src/commands/parse-flags.ts';
import { namedCommands } from '../../support/named-commands.ts';

/** Returns the flags and words of a command; throws for those that the program does not take. */
function take(words: readonly string[]) {
  const { flags, positionals } = parseFlags(words);
  const [name = ''] = positionals;
  if (name !== '' && !isCommand(name)) throw new Error(`there is no command ${name}`);
  assertFlagsTaken(flags, name);
}

it('every command in an alert, message, help or document has only existing flags', () => {
  const all = namedCommands();
  const wrong = all.flatMap(({ from, words }) => {
    try {
      take(words);
      return [];
    } catch (error) {
      return [`${from.join(', ')}: ${words.join(' ')}: ${String(error)}`];
    }
  });

  expect(wrong).toEqual([]);
  expect(all.length).toBeGreaterThan(80);
  const names = all.map(({ words }) => words.join(' '));
  expect(names).toEqual(
    expect.arrayContaining(['check', 'audit verify', 'admin changes approve ID --watch --reason=looked-at-it']),
  );
});
