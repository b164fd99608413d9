import { oneLine } from '../../lib/text.ts';
import { UsageError } from '../command.ts';

/** One `name=value` of the command line, or one `name:=json`. */
export interface Assignment {
  readonly name: string;
  /** The text as it was written: the API accepts numbers and booleans as texts too (docs/api.md §1.3). */
  readonly value: unknown;
}

/** Reads the words after an operation or a recipe; throws a UsageError. */
export function parseAssignments(words: readonly string[]): readonly Assignment[] {
  return words.map((word) => {
    const match = /^([\w.-]+)(:?=)(.*)$/s.exec(word);
    const [, name = '', sign, text = ''] = match ?? [];
    // The message does not repeat the word: it may be a password without its name.
    if (!match) throw new UsageError('what follows must be name=value, or name:=JSON for lists and objects');
    return { name, value: sign === ':=' ? parseValue(name, text) : text };
  });
}

/** Objects with two names: recipes and labels of metrics have the short one, most routes of the API the other. */
const synonyms: readonly (readonly [string, string])[] = [
  ['farm', 'farmname'],
  ['fg', 'farmguardian'],
];

function synonymOf(name: string): string | undefined {
  return synonyms.find((pair) => pair.includes(name))?.find((other) => other !== name);
}

/** Renames each value that has a synonym of a wanted name; throws a UsageError where both are given and differ. */
export function renameSynonyms(assignments: readonly Assignment[], wanted: readonly string[]): readonly Assignment[] {
  return wanted.reduce((given, name) => {
    const other = synonymOf(name);
    const renamed = given.find((assignment) => assignment.name === other);
    if (other === undefined || !renamed) return given;
    const same = given.filter((assignment) => assignment.name === name || assignment.name === other);
    if (same.some(({ value }) => value !== renamed.value))
      throw new UsageError(
        `${[name, other].toSorted().join(' and ')} mean the same and have different values; leave one out`,
      );
    return [...given.filter((assignment) => !same.includes(assignment)), { name, value: renamed.value }];
  }, assignments);
}

/** `farm (or farmname)`; `suffix` follows each of the names. */
export function namesOf(name: string, suffix = ''): string {
  const other = synonymOf(name);
  return other === undefined ? `${name}${suffix}` : `${name}${suffix} (or ${other}${suffix})`;
}

/** Returns a word as a message may quote it: the text after a sign may be a password in the wrong place. */
export function quotable(word: string): string {
  return oneLine(word.replace(/[=?].*$/s, '…'), 200);
}

function parseValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name}:= needs JSON, such as ${name}:='["eth1","eth2"]'; plain text goes with ${name}=`);
  }
}

/** Returns the values of a recipe, all of them texts; throws a UsageError for an unknown name. */
export function namedValues(
  words: readonly string[],
  { name: recipe, parameters }: { readonly name: string; readonly parameters: Readonly<Record<string, boolean>> },
): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  const known = Object.keys(parameters);
  for (const { name, value } of renameSynonyms(parseAssignments(words), known)) {
    if (!known.includes(name))
      throw new UsageError(
        `${recipe} takes ${known.map((each) => namesOf(each)).join(', ')}, and no ${oneLine(name, 64)}`,
      );
    if (values.has(name)) throw new UsageError(`${name} is given twice; leave one out`);
    if (typeof value !== 'string' || value === '') throw new UsageError(`${name} needs a value: ${name}=…`);
    values.set(name, value);
  }
  const missing = known.filter((name) => parameters[name] && !values.has(name));
  if (missing.length > 0)
    throw new UsageError(`${recipe} needs ${missing.map((name) => namesOf(name, '=…')).join(' ')}`);
  return Object.fromEntries(values);
}
