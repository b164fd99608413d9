import { globSync, lstatSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { rooms } from '../../../oxlint.config.ts';
import { chartFiles } from '../../../scripts/chart-files.ts';
import { generatedDocs } from '../../../scripts/generate-docs.ts';
import { applianceFamilies } from '../../../src/app/appliance-families.ts';

it.each([...generatedDocs()])('docs/%s is up to date with `npm run docs`', (name, text) => {
  expect(readFileSync(`docs/${name}`, 'utf8')).toBe(text);
});

it.each(chartFiles())('%s is an up-to-date copy of %s', (copy, original) => {
  expect(lstatSync(copy).isSymbolicLink()).toBe(false);
  expect(readFileSync(copy, 'utf8') === readFileSync(original, 'utf8')).toBe(true);
});

it('every family has its source in brackets at the end of its help', () => {
  for (const { name, help } of applianceFamilies) expect(help, name).toMatch(/\([^()]+\)[.]$/);
});

it('the linter has a rule for every folder of src/, and no folder imports from a layer above its own', () => {
  const folders = globSync('src/{*,admin/*}/')
    .map((folder) => folder.replace(/^src\/|\/$/g, ''))
    .filter((folder) => folder !== 'admin');
  const upward = Object.entries(rooms).flatMap(([folder, { floor, imports }]) =>
    imports.filter((other) => (rooms[other]?.floor ?? 0) > floor).map((other) => `${folder} imports ${other}`),
  );

  expect(Object.keys(rooms).toSorted()).toEqual(folders.toSorted());
  expect(upward).toEqual([]);
});
