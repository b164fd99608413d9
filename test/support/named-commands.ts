import { globSync, readFileSync } from 'node:fs';
import { places } from '../../src/commands/completion/places.ts';
import { allFlags } from '../../src/commands/parse-flags.ts';
import { readDocuments } from '../docs/documents.ts';
import { shippedRules } from './shipped-rules.ts';

/** A command that a text names. */
export interface NamedCommand {
  /** Files such as `docs/admin.md` and `src/commands/check/notes.ts`, and names of alerts. */
  readonly from: readonly string[];
  /** The words after `zlb-exporter`; a value that the text leaves open is in capital letters. */
  readonly words: readonly string[];
}

const known = places();

/**
 * Returns every command that alerts, documents, messages, helps and the files of deploy/ name. The
 * blocks of documents that are run are left out: commands.test.ts and the runbooks type them.
 */
export function namedCommands(): readonly NamedCommand[] {
  const rules = shippedRules.map(({ alert = '', annotations }) => [alert, Object.values(annotations ?? {}).join('\n')]);
  const messages = [...globSync('src/**/*.ts'), 'scripts/stack.ts'].map((file) => [file, messagesIn(file)]);
  const deployed = globSync('deploy/**/*.{sh,conf,txt,yml,service}').map((file) => [file, readFileSync(file, 'utf8')]);
  const documents = readDocuments().map(({ file, words, blocks }) => {
    const untyped = blocks.filter(
      ({ language, notRunBecause }) => notRunBecause !== undefined || !['sh', 'console'].includes(language),
    );
    return [file, [...words, ...untyped.map(({ text }) => text)].join('\n')];
  });
  const all = [...rules, ...messages, ...deployed, ...documents].flatMap(([from = '', text = '']) =>
    commandsIn(text).map((words) => ({ from, words })),
  );
  return [...Map.groupBy(all, ({ words }) => words.join(' ')).values()].map((same) => ({
    from: [...new Set(same.map(({ from }) => from))],
    words: same[0]?.words ?? [],
  }));
}

/** Returns a source without its comments; a value in a message is in capital letters. */
function messagesIn(file: string): string {
  return readFileSync(file, 'utf8')
    .replaceAll(/^\s*(?:\/\/|\/\*|\*).*$/gm, '')
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'VALUE');
}

/** A word of a command, or a part of it in quotes. */
const word = /(?:[^\s'"`\\|&;<>()]|(?<==)'[^'\n]*')+|(?<=\s)'[^'\n()]*'/y;

/** Returns the words after each `zlb-exporter ` of a text, up to where prose goes on. */
function commandsIn(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/(?<![\w/-])zlb-exporter (?=\S)/g)].flatMap(({ index, 0: name }) => {
    const words: string[] = [];
    let at = index + name.length;
    for (;;) {
      word.lastIndex = at;
      const [found] = word.exec(text) ?? [];
      if (found === undefined) break;
      const bare = found.replace(/[.,:]+$/, '');
      if (!/^[[…]/.test(bare)) {
        if (!belongs(bare, words)) break;
        words.push(bare);
      }
      at += found.length;
      // Two blanks, a line break, or a full stop end a command.
      if (bare !== found || !/^ (?! |#)/.test(text.slice(at, at + 2))) break;
      at += 1;
    }
    return words.length === 0 ? [] : [words];
  });
}

/** Returns true for a word that goes on with a command; prose may follow one. */
function belongs(text: string, before: readonly string[]): boolean {
  if (text.startsWith('-')) return before.length > 0 || allFlags.has(text.replace(/^--|=.*/g, ''));
  const given = before.filter((each) => !each.startsWith('-'));
  const place = known.find(
    ({ after }) => after.length === given.length && after.every((each, index) => each === '*' || each === given[index]),
  );
  if (place && place.offer !== 'files' && place.offer.includes(text)) return true;
  // A first word that is no command: the program's name in a sentence.
  return given.length > 0 && /[^a-z]/.test(text);
}
