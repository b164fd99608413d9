import { expect, it } from 'vitest';
import { type Document, readDocuments } from './documents.ts';

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

const documents = readDocuments();

it('the blocks of documents have a language, and a reason if they are not run', () => {
  expect(documents.flatMap(complaintsAbout)).toEqual([]);
});

it('the JSON of the documents can be parsed', () => {
  const texts = documents.flatMap(({ blocks }) =>
    blocks.flatMap(({ language, text }) => (language === 'json' ? [text] : [])),
  );

  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) expect(() => JSON.parse(text) as unknown).not.toThrow();
});

function complaintsAbout({ file, blocks, idleMarks }: Document): readonly string[] {
  return [
    ...idleMarks.map(
      (line) => `${file}:${line}: this mark is for no block; it stands on the line right above the fence`,
    ),
    ...blocks.flatMap(({ line, language, notRunBecause }) => {
      if (language === '')
        return [`${file}:${line}: a block without a language; "text" is one, for pictures and outputs`];
      if (!(language in languages))
        return [
          `${file}:${line}: nobody runs ${language} here; the languages are ${Object.keys(languages).join(', ')}`,
        ];
      return notRunBecause === '' ? [`${file}:${line}: the mark gives no reason: <!-- not run: REASON -->`] : [];
    }),
  ];
}
