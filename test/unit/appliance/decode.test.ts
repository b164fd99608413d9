import * as fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { decode, type Unreadable } from '../../../src/appliance/decode.ts';
import {
  WireList,
  WireName,
  WireNumber,
  WirePart,
  WireRows,
  WireSigned,
  WireState,
  WireText,
} from '../../../src/appliance/wire-types.ts';
import { keptBytes } from '../../support/kept-memory.ts';

const row = Type.Object({ name: WireName, state: WireState, count: WireNumber });
const schema = Type.Object({
  number: WireNumber,
  signed: WireSigned,
  text: WireText,
  state: WireState,
  part: WirePart(Type.Object({ inner: WireNumber })),
  list: WireList(row, ['name'], 3),
});

/** Returns a decoded body, or the reason for its refusal as a text, and what could not be read. */
function read(json: string): { readonly body: unknown; readonly unreadable: readonly Unreadable[] } {
  const body: unknown = JSON.parse(json);
  const unreadable: Unreadable[] = [];
  const fault = decode(schema, body, (found) => unreadable.push(...found));
  return { body: fault ? fault.because : body, unreadable };
}

/** The same for who decides by the reply. */
function decoded(json: string): unknown {
  const body: unknown = JSON.parse(json);
  return decode(schema, body)?.because ?? body;
}

describe('a number on the wire', () => {
  it.each([
    ['5', 5],
    ['0', 0],
    ['0.43', 0.43],
    ['"5"', 5],
    ['"0"', 0],
    ['"007"', 7],
    ['"51240.77"', 51_240.77],
    ['"+3"', 3],
    ['"1e3"', 1_000],
    ['" 5 "', 5],
  ])('is read from %s', (written, number) => {
    expect(decoded(`{"number":${written}}`)).toEqual({ number });
  });

  it.each(['null', '""', '"  "'])('is unknown for %s, never 0', (written) => {
    expect(decoded(`{"number":${written}}`)).toEqual({ number: null });
  });

  it('stays undefined when the field is missing', () => {
    expect(decoded('{}')).toEqual({});
  });

  it.each(['-1', '"-12.07"'])('is read from %s only where that makes sense', (written) => {
    expect(decoded(`{"signed":${written}}`)).toEqual({ signed: Number(JSON.parse(written)) });
    expect(read(`{"number":${written}}`).body).toEqual({ number: null });
  });

  it.each([
    ...'true false -1 "1,234" "0x10" "0b1" "1_000" "1,5" "5%"'.split(' '),
    '"5 MB"',
    ...'"." "-" "NaN" "Infinity" "NA" "1e999" 1e999 [] [5] {}'.split(' '),
  ])('is absent and reported for %s, because a wrong number is worse than none', (written) => {
    const { body, unreadable } = read(`{"number":${written}}`);

    expect(body).toEqual({ number: null });
    expect(unreadable).toMatchObject([{ field: 'number', count: 1 }]);
    expect(decoded(`{"number":${written}}`)).toEqual({ number: null });
  });

  it('is the same when it is written as text', () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0));

    fc.assert(
      fc.property(numbers, (number) => {
        expect(decoded(JSON.stringify({ signed: String(number) }))).toEqual({ signed: number });
      }),
    );
  });
});

describe('a text on the wire', () => {
  it.each([
    ['"up"', 'up'],
    ['""', ''],
    ['-1', '-1'],
    ['443', '443'],
    ['" 443 "', '443'],
    ['null', null],
    ['true', 'true'],
    ['false', 'false'],
  ])('is read from %s as %j', (written, text) => {
    expect(decoded(`{"text":${written}}`)).toEqual({ text });
  });

  it.each(['[]', '{}', '1e999'])('is absent and reported for %s', (written) => {
    const { body, unreadable } = read(`{"text":${written}}`);

    expect(body).toEqual({ text: null });
    expect(unreadable).toMatchObject([{ field: 'text', count: 1 }]);
    expect(decoded(`{"text":${written}}`)).toBe('/text must be a text, a number, true, false or null');
  });
});

it('names and texts are kept up to a maximum length, and different ones stay different', () => {
  const names = ['a', 'b'].map((end) => 'x'.repeat(3_000) + end);
  const rows = names.map((name) => ({ name, state: null, count: null }));
  const { body, unreadable } = read(JSON.stringify({ list: rows, text: 'y'.repeat(100_000) }));
  const { list, text } = body as { readonly list: readonly { readonly name: string }[]; readonly text: string };
  const kept = list.map(({ name }) => name);

  expect(kept.map(({ length }) => length)).toEqual([255, 255]);
  expect(new Set(kept).size).toBe(2);
  expect(text).toHaveLength(4_096);
  expect(unreadable).toEqual([]);
});

it.each([
  ['a text with very many blanks', { text: `a text of a farm${' '.repeat(1_000_000)}` }],
  ['a long text', { text: 'a text of a farm'.repeat(100_000) }],
  ['a long status', { state: 'a status of a farm'.repeat(100_000) }],
  ['a long name', { list: [{ name: 'a name of a farm'.repeat(100_000) }] }],
  ['a text instead of a number', { number: 'a number of a farm'.repeat(100_000) }],
])('%s does not retain the truncated part in memory', async (_, body) => {
  const json = JSON.stringify(body);
  const all: unknown[] = [];

  expect(await keptBytes(() => all.push(...Array.from({ length: 20 }, () => read(json))))).toBeLessThan(1_000_000);
  expect(all).toHaveLength(20);
});

describe('a status word on the wire', () => {
  it.each(['needed restart', 'Needed Restart', ' NEEDED  RESTART\t'])('is normalised from %j', (written) => {
    expect(decoded(JSON.stringify({ state: written }))).toEqual({ state: 'needed restart' });
  });

  it('is truncated', () => {
    expect(decoded(JSON.stringify({ state: 'A '.repeat(1_000_000) }))).toEqual({ state: 'a '.repeat(32) });
  });
});

it.each(['"N/A"', '5', '[]', 'true'])('a part of an object is absent and reported when it is %s', (written) => {
  const { body, unreadable } = read(`{"number":1,"part":${written}}`);

  expect(body).toEqual({ number: 1, part: null });
  expect(unreadable).toEqual([{ field: 'part', count: 1, example: written }]);
  expect(decoded(`{"part":${written}}`)).toBe('/part must be object');
});

describe('a list on the wire', () => {
  it.each(['{}', '{"list":null}', '{"list":[]}'])('may be missing, null or empty: %s', (written) => {
    expect(decoded(written)).toEqual(JSON.parse(written));
  });

  it('has its elements decoded in place', () => {
    expect(decoded('{"list":[{"name":"a","count":"1"},{"name":7,"count":""}]}')).toEqual({
      list: [
        { name: 'a', count: 1 },
        { name: '7', count: null },
      ],
    });
  });

  it.each(['"list"', '5', '{"0":{"name":"a"}}', 'true'])('is absent when it is optional and is %s', (written) => {
    expect(read(`{"list":${written}}`)).toEqual({
      body: { list: null },
      unreadable: [{ field: 'list', count: 1, example: written }],
    });
    expect(decoded(`{"list":${written}}`)).toBe('/list must be array,null');
  });

  it('is malformed when it is the subject of the reply and not a list', () => {
    expect(decode(Type.Object({ list: WireRows(row, ['name']) }), { list: 'none' }, () => undefined)).toMatchObject({
      reason: 'malformed',
      because: '/list must be array',
    });
  });

  it.each([
    ['{"name":""}', 'name', '/list/1/name must be a text that is not empty'],
    ['{"name":"  "}', 'name', '/list/1/name must be a text that is not empty'],
    ['{"name":-1e999}', 'name', '/list/1/name must be a text that is not empty'],
    ['{"name":null}', 'name', '/list/1/name must be a text that is not empty'],
    ['{"state":"up"}', 'name', "/list/1 must have required property 'name'"],
    ['null', 'list', '/list/1 must be object'],
  ])('skips the row %s, and keeps the others', (odd, field, because) => {
    const written = `{"list":[{"name":"a"},${odd},{"name":"b"}]}`;
    const { body, unreadable } = read(written);

    expect(body).toEqual({ list: [{ name: 'a' }, { name: 'b' }] });
    expect(unreadable).toMatchObject([{ field, count: 1 }]);
    expect(decoded(written)).toBe(because);
  });

  it('has rows up to its limit, and reports how many more there were', () => {
    const rows = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));
    const { body, unreadable } = read(JSON.stringify({ list: rows }));

    expect(body).toEqual({ list: rows.slice(0, 3) });
    expect(unreadable).toEqual([{ field: 'list', count: 2, example: '{"name":"d"}' }]);
    expect(decoded(JSON.stringify({ list: rows }))).toMatch(/^\/list has more than 3 rows; check what answers/);
  });

  it('has identical rows once', () => {
    expect(read('{"list":[{"name":"a","count":1},{"name":"b"},{"name":"a","count":"1"}]}')).toEqual({
      body: { list: [{ name: 'a', count: 1 }, { name: 'b' }] },
      unreadable: [],
    });
  });

  it('omits the fields in which rows of one name differ', () => {
    const written = '{"list":[{"name":"a","state":"up","count":1},{"name":"a","state":"down","count":1}]}';

    expect(read(written)).toEqual({
      body: { list: [{ name: 'a', state: null, count: 1 }] },
      unreadable: [{ field: 'state', count: 1, example: '"down"' }],
    });
    expect(decoded(written)).toBe('/list has one name twice, with another state');
  });

  it('decodes each row as it would without the others', () => {
    const names = fc.constantFrom('a', 'b');
    const sound = fc.uniqueArray(fc.record({ name: names, state: fc.constantFrom('up', 'down'), count: fc.nat() }), {
      selector: ({ name }) => name,
    });
    const odd = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('name', 'state', 'count'), fc.jsonValue()));

    fc.assert(
      fc.property(sound, odd, fc.nat(2), (rows, one, at) => {
        const body = JSON.stringify({ list: rows.toSpliced(Math.min(at, rows.length), 0, one as never) });
        const others = (read(body).body as { list: { name: string }[] }).list.filter(
          ({ name }) => rows.some((each) => each.name === name) && name !== String((one as { name?: unknown })?.name),
        );

        const untouched = rows.filter(({ name }) => name !== String((one as { name?: unknown } | null)?.name));
        expect(others).toEqual(untouched);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a body on the wire', () => {
  it('keeps unknown fields', () => {
    expect(decoded('{"number":"1","extended":{"nxdomain":34},"description":"…"}')).toEqual({
      number: 1,
      extended: { nxdomain: 34 },
      description: '…',
    });
  });

  it.each(['null', '[]', '"text"', '5', 'true'])('is refused when it is %s', (written) => {
    expect(decoded(written)).toBe('the body must be object');
  });
});
