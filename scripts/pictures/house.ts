import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rooms } from '../../oxlint.config.ts';
import { box, drawing, text, type Shape, wrapped } from './drawing.ts';

interface DrawnRoom {
  readonly folder: string;
  readonly idea: string;
}

/** The floors from the top, with the folders on them, as the linter's table has them. */
const house = Object.entries(Object.groupBy(Object.entries(rooms), ([, { floor }]) => floor))
  .map(([floor, entries = []]) => ({
    floor: Number(floor),
    rooms: entries.map(([folder, { idea }]): DrawnRoom => ({ folder, idea })),
  }))
  .toSorted((a, b) => b.floor - a.floor);

const root = fileURLToPath(new URL('../../', import.meta.url));
const everywhere = 'lib';

/** Returns the folders that the files of one folder of `src/` import from, without itself. */
function importsOf(folder: string): readonly string[] {
  const imported = globSync(`src/${folder}/**/*.ts`, { cwd: root }).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return [...source.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) => {
      const [first = '', second = ''] = join(file, '..', path).split('/');
      return first === 'src' ? second : first;
    });
  });
  return [...new Set(imported)].filter((name) => name !== folder).toSorted();
}

const width = 860;
const margin = 44;
const gap = 12;
const height = 100;

/** The house as a picture: floors, rooms, and what each room really imports. */
export function drawHouse(): string {
  const shapes = house.flatMap(({ floor, rooms }, index) => {
    const top = 56 + index * (height + gap);
    const each = (width - margin - gap * rooms.length) / rooms.length;
    return [
      text({ x: 16, y: top + height / 2 + 6, words: `${floor}`, look: 'floor' }),
      ...rooms.flatMap((room, at) => drawRoom(room, margin + at * (each + gap), top, each)),
    ];
  });
  return drawing({
    width,
    height: 56 + house.length * (height + gap) + 28,
    title: 'The floors of src/, each with its folders and what they import',
    shapes: [
      text({ x: margin, y: 32, words: 'A file imports from its own floor or a lower one', look: 'heading' }),
      ...shapes,
      text({
        x: margin,
        y: 56 + house.length * (height + gap) + 12,
        words: `↓ is what it really imports, ${everywhere}/ left out`,
        look: 'small',
      }),
    ],
  });
}

function drawRoom({ folder, idea }: DrawnRoom, x: number, y: number, wide: number): readonly Shape[] {
  const imports = importsOf(folder).filter((name) => name !== everywhere);
  return [
    box({ x, y, width: wide, height, look: 'room' }),
    text({ x: x + 12, y: y + 22, words: `${folder}/`, look: 'name' }),
    ...wrapped({ x: x + 12, y: y + 40, width: wide - 24, words: idea, look: 'body' }),
    ...wrapped({
      x: x + 12,
      y: y + height - 24,
      width: wide - 24,
      words: imports.length > 0 ? `↓ ${imports.join(', ')}` : '',
      look: 'small',
    }),
  ];
}
