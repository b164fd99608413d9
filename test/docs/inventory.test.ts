import { expect, it } from 'vitest';
import { type Block, readDocuments } from './documents.ts';

/** The meaning of each language of a block, and so the test that runs it. */
const languages: Readonly<Record<string, string>> = {
  sh: 'commands, run',
  console: 'commands, run, with what they print, compared',
  yaml: 'loaded by a reader of such files',
  json: 'parsed',
  promql: 'parsed, its series looked up',
  mermaid: 'a diagram, not run',
  text: 'an output, not run',
};

const blocks = readDocuments().flatMap((document) => document.blocks);

it('the code blocks of the documents have a language, and a reason if they are not run', () => {
  expect(blocks.flatMap(complaintsAbout)).toEqual([]);
});

it('the JSON of the documents is valid', () => {
  const texts = blocks.filter(({ language }) => language === 'json').map(({ text }) => text);

  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) expect(() => JSON.parse(text) as unknown).not.toThrow();
});

function complaintsAbout({ file, line, language, notRunBecause }: Block): readonly string[] {
  const known = Object.keys(languages).join(', ');
  if (!(language in languages)) return [`${file}:${line}: nobody runs "${language}" here; the languages are ${known}`];
  return notRunBecause === '' ? [`${file}:${line}: the mark gives no reason: <!-- not run: REASON -->`] : [];
}
