import { afterAll, describe, expect, it } from 'vitest';
import { type Document, readDocument, readDocuments } from './documents.ts';

/** The meaning of each language of a block, and so the test that runs it. */
const languages: Readonly<Record<string, string>> = {
  sh: 'commands, run',
  console: 'commands, run, with what they print, compared',
  yaml: 'loaded by a reader of such files',
  json: 'parsed',
  promql: 'parsed, its series looked up',
  ts: 'compared with the source, or compiled',
  mermaid: 'a diagram, not run',
  text: 'an output, not run',
};

const documents = readDocuments();

describe.each(documents)('the blocks of $file', (document) => {
  it('have a language, and a reason if they are not run', () => {
    expect(complaintsAbout(document)).toEqual([]);
  });
});

describe('a block', () => {
  it('without a language is found, with its line', () => {
    expect(complaintsAbout(readDocument('a.md', 'text\n\n```\nls\n```\n'))).toEqual([
      expect.stringMatching(/^a\.md:3: a block without a language/),
    ]);
  });

  it('in an unknown language is found', () => {
    expect(complaintsAbout(readDocument('a.md', '```perl\n1\n```\n'))).toEqual([
      expect.stringMatching(/^a\.md:1: .*perl/),
    ]);
  });

  it('with a mark without a reason is found', () => {
    expect(complaintsAbout(readDocument('a.md', '1. A\n\n   <!-- not run: -->\n   ```sh\n   ls\n   ```\n'))).toEqual([
      expect.stringMatching(/^a\.md:4: .*reason/),
    ]);
  });

  it('is not marked by a distant comment', () => {
    expect(complaintsAbout(readDocument('a.md', '<!-- not run: a cluster -->\n\n```sh\nls\n```\n'))).toEqual([
      expect.stringMatching(/^a\.md:1: .*right above/),
    ]);
  });
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

afterAll(() => {
  const count = (document: Document, wanted: (language: string, marked: boolean) => boolean) =>
    document.blocks.filter(({ language, notRunBecause }) => wanted(language, notRunBecause !== undefined)).length;
  const rows = documents
    .filter(({ blocks }) => blocks.length > 0)
    .map((document) => ({
      file: document.file,
      run: count(document, (language, marked) => !['text', 'mermaid'].includes(language) && !marked),
      marked: count(document, (_, marked) => marked),
      text: count(document, (language, marked) => language === 'text' && !marked),
    }));
  const sum = (key: 'run' | 'marked' | 'text') => rows.reduce((total, row) => total + row[key], 0);
  console.log(
    [
      'Blocks of the documents: run, marked as not run, and text',
      ...[...rows, { file: 'all of them', run: sum('run'), marked: sum('marked'), text: sum('text') }].map(
        ({ file, run, marked, text }) =>
          `${file.padEnd(32)}${[run, marked, text].map((n) => `${n}`.padStart(5)).join('')}`,
      ),
      ...documents.flatMap(({ blocks }) =>
        blocks.flatMap(({ file, line, notRunBecause }) =>
          notRunBecause === undefined ? [] : [`not run: ${file}:${line}: ${notRunBecause}`],
        ),
      ),
    ].join('\n'),
  );
});
