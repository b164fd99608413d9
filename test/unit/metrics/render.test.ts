import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counter, type Emit, gauge, stateSet } from '../../../src/metrics/family.ts';
import { inFormat, renderHeader } from '../../../src/metrics/render.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { rendered } from '../../support/store-text.ts';

const temperature = gauge('room_temperature_celsius', 'How warm it is (a thermometer).', ['room']);
const opened = counter('door_opened_total', 'How often a door opened (a bell).', ['room', 'door']);
const light = stateSet('lamp_state', 'What a lamp does (a look).', ['lamp'], ['on', 'off', 'unknown']);
const facts = gauge('house_info', 'What is known of a house (the land register).', ['street']);

describe('a sample', async () => {
  it('is a line with the appliance first and its labels in the order of the family', async () => {
    const { families } = await rendered((emit) => emit.sample(opened, { door: 'front', room: 'hall' }, 3));

    expect(families).toEqual([
      { family: opened, text: 'door_opened_total{appliance="lb",room="hall",door="front"} 3\n', series: 1 },
    ]);
  });

  it.each([null, undefined])('is not written for %s, because absent is not zero', async (value) => {
    expect((await rendered((emit) => emit.sample(temperature, { room: 'hall' }, value))).families).toEqual([]);
  });

  it.each([
    [0, '0'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [-273.15, '-273.15'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [true, '1'],
    [false, '0'],
  ])('is written for %s as %s', async (value, written) => {
    expect(await textOf((emit) => emit.sample(temperature, { room: 'hall' }, value))).toMatch(`} ${written}\n`);
  });

  it('is dropped and counted when it duplicates a series, and the first one stays', async () => {
    const { families, duplicates } = await rendered((emit) => {
      emit.sample(temperature, { room: 'hall' }, 1);
      emit.sample(temperature, { room: 'hall' }, 2);
      emit.state(light, { lamp: 'desk' }, 'on');
      emit.state(light, { lamp: 'desk' }, 'off');
      emit.sample(facts, { street: 'Main' }, 1);
      emit.sample(facts, { street: 'Main' }, 1);
    });

    expect(duplicates).toBe(3);
    expect(families.map(({ series }) => series)).toEqual([1, 3, 1]);
    expect(families[0]?.text).toBe('room_temperature_celsius{appliance="lb",room="hall"} 1\n');
    expect(families[1]?.text).toContain('lamp="desk",status="on"} 1\n');
  });
});

describe('a label', async () => {
  it.each([
    ['quotes', 'the "big" room', String.raw`the \"big\" room`],
    ['backslashes', String.raw`C:\new`, String.raw`C:\\new`],
    ['letters of any language', 'Küche 台所 🏠', 'Küche 台所 🏠'],
    ['nothing', '', ''],
  ])('keeps %s', async (_, room, written) => {
    expect(await labelOf(room)).toBe(written);
  });

  it.each([
    ['a newline', 'hall\nroom_temperature_celsius 99'],
    ['a carriage return', 'ha\rll'],
    ['a NUL', 'ha\0ll'],
    ['an escape sequence', 'ha\u001b[31mll'],
    ['a C1 control', 'ha\u0085ll'],
    ['a character that turns the text', 'shop\u202elive'],
    ['a line separator', 'ha\u2028ll'],
    ['half of a surrogate pair', 'ha\ud83dll'],
  ])('loses %s and is marked as changed', async (_, room) => {
    const written = await labelOf(room);

    expect(written).toMatch(/~[0-9a-f]{12}$/);
    expect(written).not.toMatch(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u);
  });

  it('is at most 128 characters long, and two long ones with the same beginning stay distinct', async () => {
    const long = 'x'.repeat(10_000);

    const text = await textOf((emit) => {
      emit.sample(temperature, { room: `${long}a` }, 1);
      emit.sample(temperature, { room: `${long}b` }, 2);
    });

    const rooms = [...text.matchAll(/room="([^"]*)"/g)].map(([, room]) => room);
    expect(rooms.map((room) => room?.length)).toEqual([128, 128]);
    expect(new Set(rooms).size).toBe(2);
  });

  it('keeps a name distinct from the short form of a longer one that looks the same', async () => {
    const long = 'x'.repeat(200);
    const short = (await labelOf(long)) ?? '';

    const { duplicates } = await rendered((emit) => {
      emit.sample(temperature, { room: long }, 1);
      emit.sample(temperature, { room: short }, 2);
    });

    expect(duplicates).toBe(0);
  });

  it('keeps two names distinct that differ only in characters that cannot be shown', async () => {
    const { duplicates } = await rendered((emit) => {
      for (const room of ['hall', 'ha\nll', 'ha\rll', 'ha\ud83dll', 'ha\ud83ell', 'ha\ufffdll'])
        emit.sample(temperature, { room }, 1);
    });

    expect(duplicates).toBe(0);
  });

  it('is cut between characters', async () => {
    expect((await labelOf(`${'x'.repeat(114)}🏠${'y'.repeat(50)}`)).isWellFormed()).toBe(true);
  });

  it('is escaped in the same way for the appliance name', async () => {
    const { families } = await rendered((emit) => emit.sample(temperature, { room: 'hall' }, 1), 'a"b\\c');

    expect(families[0]?.text).toContain(String.raw`{appliance="a\"b\\c",room="hall"}`);
  });
});

describe('a state set', async () => {
  it('has one series per state, of which one is 1', async () => {
    expect(await textOf((emit) => emit.state(light, { lamp: 'desk' }, 'off'))).toBe(
      'lamp_state{appliance="lb",lamp="desk",status="on"} 0\n' +
        'lamp_state{appliance="lb",lamp="desk",status="off"} 1\n' +
        'lamp_state{appliance="lb",lamp="desk",status="unknown"} 0\n',
    );
  });

  it('is unknown for a word outside its list, and reports the word once', async () => {
    const { families, unknownStates } = await rendered((emit) => {
      emit.state(light, { lamp: 'desk' }, 'flickering');
      emit.state(light, { lamp: 'wall' }, 'flickering');
      emit.state(light, { lamp: 'floor' }, 'constructor');
    });

    expect(unknownStates).toEqual([
      { family: light, word: 'flickering' },
      { family: light, word: 'constructor' },
    ]);
    expect(families[0]?.text.match(/status="unknown"\} 1/g)).toHaveLength(3);
  });

  it('does not report unknown itself', async () => {
    expect((await rendered((emit) => emit.state(light, { lamp: 'desk' }, 'unknown'))).unknownStates).toEqual([]);
  });
});

it('an info metric is 1, with the configured labels after its own', async () => {
  expect(
    await textOf((emit) => emit.sample(facts, { street: 'Main' }, 1, { site: 'paris', owner: 'the "shop"' })),
  ).toBe(String.raw`house_info{appliance="lb",street="Main",site="paris",owner="the \"shop\""} 1` + '\n');
});

it.each([-1, Number.POSITIVE_INFINITY, Number.NaN])(
  'a counter of %d is not written, because it is not a count',
  async (value) => {
    const { families } = await rendered((emit) => {
      emit.sample(opened, { room: 'hall', door: 'front' }, value);
      emit.sample(opened, { room: 'hall', door: 'back' }, 0);
    });

    expect(families).toMatchObject([{ text: 'door_opened_total{appliance="lb",room="hall",door="back"} 0\n' }]);
  },
);

it('HELP and TYPE have their own lines, with the name of the family in each format', async () => {
  const header = await renderHeader(counter('calls_total', 'Calls with a \\ and a\nnewline (a test).', ['code']));

  expect(header).toBe('# HELP calls_total Calls with a \\\\ and a\\nnewline (a test).\n# TYPE calls_total counter\n');
  expect(inFormat(header, 'openmetrics')).toContain('# TYPE calls counter\n');
});

describe('any reading', async () => {
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: loneHalf() }),
  );
  const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(null, undefined));

  it('keeps label sets apart that prom-client would merge', async () => {
    const { families, duplicates } = await rendered((emit) => {
      emit.sample(opened, { door: 'a,room:b', room: 'c' }, 1);
      emit.sample(opened, { door: 'a', room: 'b,room:c' }, 2);
      emit.sample(opened, { door: 'a', room: 'b' }, 3);
    });

    expect(duplicates).toBe(0);
    expect(families[0]?.text.trim().split('\n')).toHaveLength(3);
  });

  it('reads back as it was emitted, for any labels and numbers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ room: unit, door: unit, value }), {
          selector: (each) => `${each.room}\n${each.door}`,
        }),
        async (emitted) => {
          const { duplicates, text } = await rendered((emit) => {
            for (const { value: number, ...labels } of emitted) emit.sample(opened, labels, number);
          });
          const page = text === '' ? '' : (await renderHeader(opened)) + text;

          const written = emitted.filter(({ value: each }) => typeof each === 'number' && each >= 0 && each < Infinity);
          const read = parseExposition(page, 'text').flatMap(({ samples }) => samples);
          expect(duplicates).toBe(0);
          // Adding 0 makes one zero of both.
          expect(read.map((sample) => sample.value + 0)).toEqual(written.map((each) => Number(each.value) + 0));
          for (const [index, { room, door }] of written.entries()) {
            const labels = read[index]?.labels ?? {};
            expect(labels.appliance).toBe('lb');
            expect(labels.room).toSatisfy((shown: string) => shown === room || /~[0-9a-f]{12}$/.test(shown));
            expect(labels.door).toSatisfy((shown: string) => shown === door || /~[0-9a-f]{12}$/.test(shown));
          }
        },
      ),
    );
  });
});

/** Halves of surrogate pairs, which no well-formed text has. */
function loneHalf(): fc.Arbitrary<string> {
  return fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code));
}

async function textOf(fill: (emit: Emit) => void): Promise<string> {
  return (await rendered(fill)).text;
}

async function labelOf(room: string): Promise<string> {
  const text = await textOf((emit) => emit.sample(temperature, { room }, 1));
  return /room="(.*)"\}/s.exec(text)?.[1] ?? 'no label';
}
