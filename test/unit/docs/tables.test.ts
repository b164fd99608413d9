import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const documents = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.md'], { cwd: root.pathname });

it('each table of a document follows its header without a blank line', () => {
  const cut = documents.flatMap((name) => {
    const lines = readFileSync(new URL(name, root), 'utf8').split('\n');
    return lines.flatMap((line, index) => {
      const isFirst = line.startsWith('|') && !lines[index - 1]?.startsWith('|');
      return isFirst && !/^\|[-:| ]+\|$/.test(lines[index + 1] ?? '') ? [`${name}:${index + 1}`] : [];
    });
  });

  expect(cut).toEqual([]);
});

it('the diagrams of architecture.md name only existing files', () => {
  const text = readFileSync(new URL('docs/architecture.md', root), 'utf8');
  const pictures = [...text.matchAll(/```mermaid\n(.*?)```/gs)].map(([, picture = '']) => picture).join('\n');
  const files = [...pictures.matchAll(/[\w/-]+\.ts\b/g)].map(([file]) => file);

  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !existsSync(new URL(`src/${file}`, root)))).toEqual([]);
});
