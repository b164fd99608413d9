import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { box, drawing, text, type Shape, wrapped } from './drawing.ts';

interface Room {
  /** A folder of `src/`; `src/` itself are the files beside the folders. */
  readonly folder: string;
  readonly idea: string;
}

interface Floor {
  readonly floor: number;
  readonly rooms: readonly Room[];
}

/** The floors from the top, with what is in them; docs/architecture.md has the rule. */
export const house: readonly Floor[] = [
  {
    floor: 5,
    rooms: [
      { folder: 'commands', idea: 'the command line, one file for each command' },
      { folder: 'src', idea: 'puts all parts together, and anew at a reload' },
      { folder: 'simulator', idea: 'appliances that are not there' },
    ],
  },
  { floor: 4, rooms: [{ folder: 'http', idea: 'the two listeners: for Prometheus and people, and for changes' }] },
  {
    floor: 3,
    rooms: [
      { folder: 'monitor', idea: 'when to read, what to keep, what to withhold' },
      { folder: 'admin', idea: 'who may change what; guards, dry runs, the audit' },
    ],
  },
  { floor: 2, rooms: [{ folder: 'collectors', idea: 'what to read, and what it means; one file each' }] },
  {
    floor: 1,
    rooms: [
      { folder: 'appliance', idea: 'the API as one table, the client, its errors, the breaker' },
      { folder: 'metrics', idea: 'families as values, their text, pages of them' },
    ],
  },
  {
    floor: 0,
    rooms: [
      { folder: 'lib', idea: 'secrets, durations, sizes, strict dates' },
      { folder: 'config', idea: 'a file of YAML becomes Settings; for floor 5 only' },
    ],
  },
];

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const everywhere = 'lib';

/** The folders that the files of one import from, itself left out; `src` stands for the files beside the folders. */
export function importsOf(folder: string): readonly string[] {
  const files = globSync(folder === 'src' ? '*.ts' : `${folder}/**/*.ts`, { cwd: root });
  const imported = files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return [...source.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) => {
      const [first = '', ...rest] = join(file, '..', path).split('/');
      return rest.length === 0 ? 'src' : first;
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

function drawRoom({ folder, idea }: Room, x: number, y: number, wide: number): readonly Shape[] {
  const imports = importsOf(folder).filter((name) => name !== everywhere && !(name === 'src' && folder !== 'src'));
  return [
    box({ x, y, width: wide, height, look: 'room' }),
    text({ x: x + 12, y: y + 22, words: folder === 'src' ? 'src/*.ts' : `${folder}/`, look: 'name' }),
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
