import * as fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createDecoder } from '../../../src/appliance/decode.ts';
import { WireList, WireName, WireNumber, WireText } from '../../../src/appliance/wire-types.ts';

const decode = createDecoder();
const schema = Type.Object({
  number: WireNumber,
  text: WireText,
  list: WireList(Type.Object({ name: WireName, count: WireNumber })),
});

/** Returns a decoded body, or the reason for its refusal as a text. */
function decoded(json: string): unknown {
  const body: unknown = JSON.parse(json);
  const checked = decode(schema, body);
  return checked.ok ? body : checked.because;
}

describe('a number on the wire', () => {
  it.each([
    ['5', 5],
    ['0', 0],
    ['-1', -1],
    ['0.43', 0.43],
    ['"5"', 5],
    ['"0"', 0],
    ['"007"', 7],
    ['"51240.77"', 51_240.77],
    ['"-12.07"', -12.07],
    ['"+3"', 3],
    ['"1e3"', 1_000],
    ['" 5 "', 5],
  ])('%s is a number', (written, number) => {
    expect(decoded(`{"number":${written}}`)).toEqual({ number });
  });

  it.each(['null', '""', '"  "'])('%s is unknown, never 0', (written) => {
    expect(decoded(`{"number":${written}}`)).toEqual({ number: null });
  });

  it('stays undefined when the field is missing', () => {
    expect(decoded('{}')).toEqual({});
  });

  it.each([
    'true',
    'false',
    '"0x10"',
    '"0b1"',
    '"1_000"',
    '"1,5"',
    '"5%"',
    '"5 MB"',
    '"."',
    '"-"',
    '"NaN"',
    '"Infinity"',
    '"NA"',
    '"1e999"',
    '1e999',
    '[]',
    '[5]',
    '{}',
  ])('%s is refused: a wrong number is worse than none', (written) => {
    expect(decoded(`{"number":${written}}`)).toBe('/number must be a number, a string of digits, empty or null');
  });

  it('is the same if it is written as text', () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0));

    fc.assert(
      fc.property(numbers, (number) => {
        expect(decoded(JSON.stringify({ number: String(number) }))).toEqual({ number });
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
    ['null', null],
  ])('%s is %j', (written, text) => {
    expect(decoded(`{"text":${written}}`)).toEqual({ text });
  });

  it.each(['true', '[]', '{}', '1e999'])('%s is refused', (written) => {
    expect(decoded(`{"text":${written}}`)).toBe('/text must be a text, a number or null');
  });
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

  it.each(['"list"', '5', '{"0":{"name":"a"}}', 'true'])('is refused when it is %s', (written) => {
    expect(decoded(`{"list":${written}}`)).toBe('/list must be array');
  });

  it.each([
    ['{"list":[{"name":"a"},{"name":""}]}', '/list/1/name must be a text that is not empty'],
    ['{"list":[{"name":-1e999}]}', '/list/0/name must be a text that is not empty'],
    ['{"list":[{"name":null}]}', '/list/0/name must be a text that is not empty'],
    ['{"list":[{}]}', "/list/0 must have required property 'name'"],
    ['{"list":[null]}', '/list/0 must be object'],
    ['{"list":[{"name":"a","count":{}}]}', '/list/0/count must be a number, a string of digits, empty or null'],
  ])('names the place of the error in %s', (written, because) => {
    expect(decoded(written)).toBe(because);
  });
});

describe('a body', () => {
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
