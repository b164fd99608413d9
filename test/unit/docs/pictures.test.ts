import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { rooms } from '../../../oxlint.config.ts';
import { generatedDocs } from '../../../scripts/generate-docs.ts';
import { lifeOfAChange, lifeOfARequest } from '../../../scripts/pictures/lives.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

it.each([...generatedDocs()].filter(([name]) => name.endsWith('.svg')))(
  'docs/%s is what the scripts draw; npm run docs writes it',
  (name, svg) => {
    expect(readFileSync(`${root}docs/${name}`, 'utf8')).toBe(svg);
  },
);

it('the linter has a rule for every folder of src/', () => {
  const folders = globSync('*/', { cwd: `${root}src` }).map((folder) => folder.replace('/', ''));
  expect(Object.keys(rooms).toSorted()).toEqual(folders.toSorted());
});

it('no folder may import from a floor above its own', () => {
  const upward = Object.entries(rooms).flatMap(([folder, { floor, imports }]) =>
    imports.filter((other) => (rooms[other]?.floor ?? 0) > floor).map((other) => `${folder} imports ${other}`),
  );
  expect(upward).toEqual([]);
});

it('the lives of a request and of a change pass through files that are there', () => {
  const files = [...lifeOfARequest, ...lifeOfAChange].map(({ file }) => file).filter((file) => file !== '');
  expect(files.filter((file) => !existsSync(`${root}src/${file}`))).toEqual([]);
});
