import GithubSlugger from 'github-slugger';
import { expect, it } from 'vitest';
import { readDocuments } from './documents.ts';

const documents = readDocuments();
const performance = documents.find(({ file }) => file === 'docs/performance.md')?.text ?? '';
const slugger = new GithubSlugger();
const sections = new Map(
  performance.split(/^#+ /m).map((text) => [slugger.slug(text.split('\n', 1)[0] ?? ''), text.replaceAll(/\s+/g, ' ')]),
);

/** A quoted figure is a link that begins with a digit: `[574 MB](docs/performance.md#figures)`. */
const quotes = documents.flatMap(({ file, text }) =>
  [...text.matchAll(/\[(\d[^\]]*)\]\([^)]*performance\.md#([\w-]+)\)/g)].map(([, figure = '', anchor = '']) => ({
    file,
    figure: figure.replaceAll(/\s+/g, ' '),
    anchor,
  })),
);

it.each(quotes)('$file quotes "$figure" as docs/performance.md#$anchor has it', ({ figure, anchor }) => {
  expect(sections.get(anchor)).toContain(figure);
});
