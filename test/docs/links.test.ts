import { existsSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Document, readDocuments, root } from './documents.ts';

const documents = readDocuments();
const byFile = new Map(documents.map((document) => [document.file, document]));
const folders = ['src', 'simulator', 'test', 'docs', 'deploy', 'alerts', 'dashboards', 'scripts', 'bench'];
const paths = folders.flatMap((folder) => globSync(`${folder}/**`, { cwd: root }));

describe.each(documents)('$file', (document) => {
  it('has only links to existing files and headings', () => {
    expect(document.links.flatMap((link) => complaintAbout(link, document))).toEqual([]);
  });

  // A changelog names what is gone.
  it.skipIf(document.file === 'CHANGELOG.md')('names only existing files', () => {
    expect(
      document.words
        .filter(looksLikeOurs)
        .filter((word) => !isThere(word, document))
        .map((word) => at(document, word)),
    ).toEqual([]);
  });
});

function complaintAbout(link: string, document: Document): readonly string[] {
  if (/^[a-z]+:/.test(link)) return [];
  const [path = '', anchor] = decodeURI(link).split('#');
  const target = path === '' ? document.file : normalize(join(dirname(document.file), path));
  if (!existsSync(join(root, target))) return [`${at(document, link)}: there is no ${target}`];
  if (anchor === undefined || byFile.get(target)?.anchors.has(anchor)) return [];
  return [`${at(document, link)}: ${target} has no heading #${anchor}`];
}

/**
 * A path from the root, or the name of a file of TypeScript; what people are to fill in has
 * capitals or dots in its place.
 */
function looksLikeOurs(word: string): boolean {
  if (!/^[\w.@*/-]+$/.test(word) || /(^|\/)[A-Z]{2,}\b(?!\.md)/.test(word)) return false;
  return folders.some((folder) => word.startsWith(`${folder}/`)) || /^[\w/.-]+\.ts$/.test(word);
}

function isThere(word: string, { file }: Document): boolean {
  if (word.includes('*')) return globSync(word, { cwd: root }).length > 0;
  if ([word, join(dirname(file), word)].some((path) => existsSync(join(root, path)))) return true;
  return word.endsWith('.ts') && paths.some((path) => path.endsWith(`/${word}`));
}

function at({ file, text }: Document, name: string): string {
  return `${file}:${text.slice(0, Math.max(0, text.indexOf(name))).split('\n').length}: ${name}`;
}
