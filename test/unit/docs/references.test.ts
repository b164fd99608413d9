import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
const texts = tracked
  // The tests of documents write documents of their own.
  .filter(
    (file) =>
      /\.(?:ts|md|ya?ml|css|js|sh|service|example|conf)$|Dockerfile$/.test(file) && !file.startsWith('test/docs/'),
  )
  .filter((file) => existsSync(root + file))
  .map((file) => ({ file, text: unwrapped(readFileSync(root + file, 'utf8')) }));

/**
 * Files beside a clone that some suites compare with where they are there; addresses; folders of an
 * installation, in which the documents have the same places.
 */
const elsewhere = /\.\.\/shared\/\S+\.md|https?:\/\/\S+|\/opt\/zlb-exporter\/|\/usr\/share\/doc\/zlb-exporter\//g;

/** A document, with the folders that are written before it. */
const named = /[\w./-]*[\w-]\.md\b/;

it('every document that a file of the repository references exists', () => {
  const documents = tracked.filter((file) => file.endsWith('.md'));

  const missing = texts.flatMap(({ file, text }) =>
    [...text.replaceAll(elsewhere, '').matchAll(new RegExp(named, 'g'))]
      .map(([path]) => path.replaceAll(/(?:^|\/)\.{1,2}(?=\/)/g, '').replace(/^\/+/, ''))
      .filter((path) => !documents.some((known) => known === path || known.endsWith(`/${path}`)))
      .map((path) => `${file}: ${path}`),
  );

  expect(missing).toEqual([]);
});

it('every referenced section of docs/api.md exists', () => {
  const headings = readFileSync(`${root}docs/api.md`, 'utf8').matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm);
  const sections = new Set([...headings].map(([, number]) => number));

  const missing = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/docs\/api\.md (§[\d.]+(?:-[\d.]+)?(?:(?:,| and) §[\d.]+)*)/g)]
      .flatMap(([, list = '']) => list.match(/\d+(?:\.\d+)?/g) ?? [])
      .filter((section) => !sections.has(section))
      .map((section) => `${file}: §${section}`),
  );

  expect(missing).toEqual([]);
});

it('every test that docs/security.md names exists', () => {
  const [, table = ''] = /\| Tried by \|.*?\n(.*?)\n\n/s.exec(readFileSync(`${root}docs/security.md`, 'utf8')) ?? [];
  const named = table.split('\n').flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)]);

  expect(named.length).toBeGreaterThan(15);
  const missing = named.filter(([, name]) => !tracked.some((file) => file.endsWith(`/${name}.test.ts`)));
  expect(missing.map(([, name]) => name)).toEqual([]);
});

/** Joins the lines of a text, also of a comment: a reference may go over the end of a line. */
function unwrapped(text: string): string {
  return text.replaceAll(/\n\s*(?:\*|\/\/|#)?\s*/g, ' ');
}
