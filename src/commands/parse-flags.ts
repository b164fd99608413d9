import { parseArgs } from 'node:util';
import { closestWord, oneLine } from '../lib/text.ts';
import { type CommandName, commands, exporter, flagsOf, isCommand } from './commands.ts';
import { type Flag, type Flags, flagValueError } from './flags.ts';
import { UsageError } from './command.ts';

export const allFlags: ReadonlyMap<string, Flag> = new Map(
  (['', ...Object.keys(commands).filter(isCommand)] as const).flatMap((name) => Object.entries(flagsOf(name))),
);

/**
 * Returns the flags and the other words of a command line; throws a UsageError, which never repeats
 * the value of a flag.
 */
export function parseFlags(words: readonly string[]): {
  readonly flags: Flags;
  readonly positionals: readonly string[];
} {
  assertTwoHyphens(words);
  // Not strict, because the messages of parseArgs are several sentences about its own rules.
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      [...allFlags].map(([name, { example, short }]) => [
        name,
        { type: example === undefined ? 'boolean' : 'string', ...(short !== undefined && { short }) },
      ]),
    ),
  });
  for (const token of tokens) if (token.kind === 'option') assertValidFlag(token);
  for (const [name, value] of Object.entries(values)) {
    const flag = allFlags.get(name);
    const problem = flag && typeof value === 'string' ? flagValueError(flag, value) : undefined;
    if (problem !== undefined) throw new UsageError(`--${name} ${problem}`);
  }
  return { flags: values, positionals };
}

/** Throws a UsageError for a flag with one hyphen, as programs written in Go take them. */
function assertTwoHyphens(words: readonly string[]): void {
  const end = words.indexOf('--');
  for (const word of end === -1 ? words : words.slice(0, end)) {
    const [, name = ''] = /^-([a-z][a-z.-]+)(?:=|$)/.exec(word) ?? [];
    const meant = allFlags.has(name) ? name : partlyNamed(name);
    if (meant !== undefined) throw new UsageError(`flags have two hyphens: --${meant}`);
  }
}

/**
 * Throws a UsageError for a flag that the command would ignore: an ignored `--dry-run` is worse
 * than none.
 */
export function assertFlagsTaken(flags: Flags, command: CommandName | ''): void {
  const taken = flagsOf(command);
  const name = Object.keys(flags).find((each) => !(each in taken));
  if (name === undefined) return;
  if (name in exporter.flags)
    throw new UsageError(`--${name} is for the exporter itself and not valid with ${command}; see ${command} --help`);
  if (command === 'deliver')
    throw new UsageError(`--${name} is not valid with deliver; zlb-exporter deliver --help explains it`);
  const taker = Object.keys(commands)
    .filter(isCommand)
    .find((each) => name in commands[each].flags);
  throw new UsageError(`--${name} is only valid with zlb-exporter ${taker}; zlb-exporter ${taker} --help explains it`);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function assertValidFlag({ name, rawName, value, inlineValue }: OptionToken): void {
  if (name === 'admin.token')
    throw new UsageError(
      'a token must not be on the command line, where other users of the machine see it; put it into a file and give --admin.token-file=PATH, or set ZLB_ADMIN_TOKEN_FILE',
    );
  const flag = allFlags.get(name);
  if (!flag) throw new UsageError(`there is no flag ${oneLine(rawName, 64)}; ${suggestionFor(name)}--help lists them`);
  const { example } = flag;
  if (example === undefined) {
    if (value !== undefined) throw new UsageError(`--${name} takes no value`);
    return;
  }
  // parseArgs took the next flag for the value.
  if (value === undefined || (!inlineValue && value.startsWith('-')))
    throw new UsageError(`--${name} needs a value, such as --${name}=${example}`);
  if (value === '')
    throw new UsageError(`--${name} is empty; give it a value, such as --${name}=${example}, or leave it out`);
}

/**
 * Returns the flag that was probably meant, by a part of its name (--config, --listen-address) or
 * by its spelling.
 */
function suggestionFor(name: string): string {
  const guess = partlyNamed(name) ?? closestWord(name, [...allFlags.keys()]);
  return guess ? `did you mean --${guess}? ` : '';
}

/** Returns the flag that has the name as one of its parts; undefined if there is none. */
function partlyNamed(name: string): string | undefined {
  return [...allFlags.keys()].find((each) => each.startsWith(`${name}.`) || each.endsWith(`.${name}`));
}
