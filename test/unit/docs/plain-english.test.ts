import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { help, helpOf } from '../../../src/commands/help.ts';
import { shippedRules } from '../../support/shipped-rules.ts';
import { root } from '../../docs/documents.ts';

/**
 * Files whose prose is checked. For TypeScript this means comments that have their own lines, and
 * the words of messages and titles.
 */
const checked = ['*.md', '*.ts', '*.js', ':!docs/endpoints.md'];
/** Words of a private language, and idioms that a reader in a second language stumbles over. */
const avoided =
  /\b(turnstile|governor|stride|rota|clockwork|upkeep|shelf|withh[eo]ld|forgives?|outlives?|ledger|tally|lately|rhythm|allotment|witness|strangers?|lanes?|lacking|spared|vital signs|verdict|anew|whoever|whichever|smuggled|wakes? up|mend(s|ed)?|seat belt|(is|are|be) told|tells? of|goes by|takes in|taken in|holds? against|held against|stands? beside|in place of|what stands|looks? at by hand|for want of|ill(s)? that|all the same)\b/i;
/** A noun clause as the subject; a question may begin so. */
const clauseFirst = /^\W*(Who|What|Of|Those|Where) [^?]*$/;

type Passage = Readonly<Record<'place' | 'text', string>>;

const files = execFileSync('git', ['ls-files', '--', ...checked], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');

describe('plain English', () => {
  it.each(files)('%s has short lines, short sentences and no idioms', (file) => {
    const all = readFileSync(root + file, 'utf8').split('\n');
    const lines = proseOf(file, all);
    const tooLong = lines.filter(({ text }) => text.length > 100 && isBreakable(text));

    expect([
      ...tooLong.map(({ place, text }) => `${place}: ${text.length} columns`),
      ...sentencesOf(lines).flatMap(complaints),
      ...all.filter((text) => text.startsWith('|') && avoided.test(text)),
      ...(isScript(file) ? messagesOf(all).filter((text) => avoided.test(text)) : []),
    ]).toEqual([]);
  });

  it('is used in the texts of alerts and in --help', () => {
    const texts = shippedRules.flatMap(({ alert: place = '', annotations }) =>
      Object.values(annotations ?? {}).map((text) => ({ place, text })),
    );
    const helpLines = [help, ...helpOf.values()].flatMap((text) => text.split('\n'));

    expect(sentencesOf(texts).flatMap(complaints)).toEqual([]);
    expect(helpLines.filter((text) => avoided.test(text))).toEqual([]);
  });
});

function isScript(file: string): boolean {
  return /\.[jt]s$/.test(file);
}

/** The lines of prose: no code, no tables of Markdown; the comments of scripts. */
function proseOf(file: string, lines: readonly string[]): readonly Passage[] {
  let isCode = false;
  return lines.map((text, index) => {
    const place = `${file}:${index + 1}`;
    if (isScript(file)) return { place, text: isComment(text) ? text : '' };
    if (/^\s*```/.test(text)) isCode = !isCode;
    return { place, text: isCode || /^\s*(```|\||<|#)/.test(text) ? '' : text };
  });
}

/** The strings and templates of TypeScript that have several words and stand on one line. */
function messagesOf(lines: readonly string[]): readonly string[] {
  return lines
    .filter((line) => !isComment(line))
    .flatMap((line) => line.match(/'[^']* [^']*'|`[^`]* [^`]*`|"[^"]* [^"]*"/g) ?? []);
}

function isComment(line: string): boolean {
  return /^\s*(\/?\*|\/\/)/.test(line);
}

/** True if a line has a blank outside code and links, at which it can be broken. */
function isBreakable(text: string): boolean {
  return /\S\s+\S/.test(text.replaceAll(/^\s*([-*]|\d+\.) |`[^`]*`|!?\[[^\]]*\]\([^)]*\)/g, ''));
}

/** The sentences of passages, each with the place where its paragraph begins. */
function sentencesOf(lines: readonly Passage[]): readonly Passage[] {
  const paragraphs: { place: string; text: string }[] = [];
  for (const { place, text } of lines) {
    const last = paragraphs.at(-1);
    const words = text.replace(/^\s*(\/\*\*|\*\/|\*|\/\/)/, '').trim();
    if (!last || words === '' || /^([-*]|\d+\.) /.test(words) || !place.includes(':'))
      paragraphs.push({ place, text: words });
    else if (last.text === '') Object.assign(last, { place, text: words });
    else last.text += ` ${words}`;
  }
  return paragraphs.flatMap(({ place, text }) =>
    text
      .replaceAll(/`[^`]*`|\{\{.*?\}\}|\[[^\]]*\]\([^)]*\)/g, 'X')
      .split(/(?<=[.?!:;])\s+(?=[A-Z*[X])/)
      .map((sentence) => ({ place, text: sentence })),
  );
}

function complaints({ place, text }: Passage): readonly string[] {
  const words = text.split(/\s+/).length;
  const idiom = avoided.exec(text)?.[0];
  return [
    ...(words > 40 ? [`${place}: a sentence of ${words} words: ${text.slice(0, 60)}…`] : []),
    ...(idiom === undefined ? [] : [`${place}: "${idiom}": ${text.slice(0, 60)}…`]),
    ...(clauseFirst.test(text) ? [`${place}: begins with a clause: ${text.slice(0, 60)}…`] : []),
  ];
}
