import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commands, exporter } from '../../../src/commands/commands.ts';
import { shippedRules } from '../../support/shipped-rules.ts';
import { root } from '../../docs/documents.ts';

/**
 * Files whose prose is checked. For TypeScript this means comments that have their own lines, and
 * the words of messages and titles.
 */
const checked = ['*.md', '*.ts', '*.js'];
/** Words of a private language, and idioms that a reader in a second language stumbles over. */
const avoided =
  /\b(turnstile|governor|stride|rota|clockwork|upkeep|shelf|withh[eo]ld|forgives?|outlives?|ledger|tally|lately|rhythm|allotment|witness|strangers?|lanes?|lacking|spared|vital signs|verdict|anew|whoever|whichever|smuggled|wakes? up|mend(s|ed)?|seat belt|(is|are|be) told|tells? of|goes by|takes in|taken in|holds? against|held against|stands? beside|in place of|what stands|looks? at by hand|for want of|ill(s)? that|all the same)\b/i;
/** A noun clause as the subject; a question may begin so. */
const clauseFirst = /^\W*(Who|What|Of|Those|Where) [^?]*$/;

const maxWords = 40;

const files = execFileSync('git', ['ls-files', '--', ...checked], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => existsSync(root + file));

it('texts have lines of at most 100 columns, short sentences and no idioms', () => {
  const ofFiles = files.flatMap((file) => {
    const all = readFileSync(root + file, 'utf8').split('\n');
    const lines = /\.[jt]s$/.test(file) ? all.map((line) => (isComment(line) ? line : '')) : proseOf(all);
    const others = /\.[jt]s$/.test(file) ? messagesOf(all) : all.filter((line) => line.startsWith('|'));
    return [
      ...lines.filter((line) => line.length > 100 && isBreakable(line)).map((line) => `over 100 columns: ${line}`),
      ...sentencesOf(lines).flatMap(complaints),
      ...others.filter((text) => avoided.test(text)),
    ].map((complaint) => `${file}: ${complaint}`);
  });
  const ofAlerts = shippedRules.flatMap(({ annotations }) => Object.values(annotations ?? {}).flatMap(sentenceOf));
  const ofHelp = [exporter, ...Object.values(commands)]
    .flatMap(({ help }) => help.split('\n'))
    .filter((text) => avoided.test(text));

  expect([...ofFiles, ...ofAlerts.flatMap(complaints), ...ofHelp]).toEqual([]);
});

/** The lines of Markdown that are prose: no code, no tables, no headings. */
function proseOf(lines: readonly string[]): readonly string[] {
  let isCode = false;
  return lines.map((text) => {
    if (/^\s*```/.test(text)) isCode = !isCode;
    return isCode || /^\s*(```|\||<|#)/.test(text) ? '' : text;
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

function sentencesOf(lines: readonly string[]): readonly string[] {
  const words = lines.map((line) => line.replace(/^\s*(\/\*\*|\*\/|\*|\/\/)/, '').trim());
  return words
    .join('\n')
    .split(/\n\n+|\n(?=[-*] |\d+\. )/)
    .flatMap((paragraph) => sentenceOf(paragraph.replaceAll('\n', ' ').trim()));
}

function sentenceOf(paragraph: string): readonly string[] {
  return paragraph.replaceAll(/`[^`]*`|\{\{.*?\}\}|\[[^\]]*\]\([^)]*\)/g, 'X').split(/(?<=[.?!:;])\s+(?=[A-Z*[X])/);
}

function complaints(text: string): readonly string[] {
  const words = text.split(/\s+/).length;
  const idiom = avoided.exec(text)?.[0];
  const start = text.slice(0, 60);
  return [
    ...(words > maxWords ? [`a sentence of ${words} words: ${start}…`] : []),
    ...(idiom === undefined ? [] : [`"${idiom}": ${start}…`]),
    ...(clauseFirst.test(text) ? [`begins with a clause: ${start}…`] : []),
  ];
}
