import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { drawnPictures } from '../../../scripts/pictures/drawn-pictures.ts';
import { house, importsOf } from '../../../scripts/pictures/house.ts';
import { lifeOfANumber, lifeOfARequest } from '../../../scripts/pictures/lives.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

it.each([...drawnPictures()])(
  'docs/pictures/%s is what scripts/draw-pictures.ts draws; npm run docs writes it',
  (name, svg) => {
    expect(readFileSync(`${root}docs/pictures/${name}`, 'utf8')).toBe(svg);
  },
);

it('the picture of the house has a room for every folder of src/', () => {
  const folders = globSync('*/', { cwd: `${root}src` }).map((folder) => folder.replace('/', ''));
  const rooms = house.flatMap(({ rooms }) => rooms.map(({ folder }) => folder));
  expect(rooms.toSorted()).toEqual([...folders, 'src'].toSorted());
});

it('no room of the house imports from a floor above it', () => {
  const floorOf = new Map(house.flatMap(({ floor, rooms }) => rooms.map(({ folder }) => [folder, floor])));
  const upward = [...floorOf].flatMap(([folder, floor]) =>
    importsOf(folder)
      .filter((other) => (floorOf.get(other) ?? 0) > floor)
      .map((other) => `${folder} imports ${other}`),
  );
  expect(upward).toEqual([]);
});

it('the lives of a number and of a request pass through files that are there', () => {
  const files = [...lifeOfANumber, ...lifeOfARequest].map(({ file }) => file).filter((file) => file !== '');
  expect(files.filter((file) => !existsSync(`${root}src/${file}`))).toEqual([]);
});
