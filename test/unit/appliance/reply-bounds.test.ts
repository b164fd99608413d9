import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { faultOf, maxValuesOf, withLengthOf } from '../../../src/appliance/reply-bounds.ts';

const mebibyte = 1_048_576;
const many = (count: number, item: string): string => Array.from({ length: count }, () => item).join(',');
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

it.each([
  ['rows without fields, with a backslash before them', `{"z":"\\\\","farms":[${many(1_300_000, '{}')}],"params":[]}`],
  ['rows of one field', `{"farms":[${many(500_000, '{"a":1}')}]}`],
  ['numbers', `{"farms":[],"x":[${many(3_000_000, '1')}]}`],
  ['arrays', `{"farms":[],"x":[${many(2_000_000, '[]')}]}`],
])('a reply with too many values is oversize before it is parsed: %s', (_, text) => {
  expect(faultOf(text, maxValuesOf(100_000, 8 * mebibyte))).toEqual({
    reason: 'oversize',
    because: expect.stringMatching(/^the reply holds more than 100000 values; raise limits\.body_bytes/),
  });
});

it('a reply of a large site is within the limit: 2,500 farms with nine fields each', () => {
  const row = JSON.stringify(
    Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`field${index}`, '192.0.2.1'])),
  );
  const { maxValues } = endpoints.listFarmStats as EndpointRow;

  expect(faultOf(`{"farms":[${many(2_500, row)}]}`, maxValuesOf(maxValues, 8 * mebibyte))).toBeUndefined();
});

it('the limit of values rises with the byte limit, and does not fall with it', () => {
  expect([1, 8, 16].map((size) => maxValuesOf(undefined, size * mebibyte))).toEqual([50_000, 50_000, 100_000]);
});

it('a comma or bracket inside a text is not counted', () => {
  expect(faultOf(`{"farms":[],"note":"${'[{,\\"\\\\'.repeat(200_000)}"}`, 10)).toBeUndefined();
});

it.each([33, 20_000, 4_000_000])('a reply that is nested %i deep is malformed', (depth) => {
  expect(faultOf(`{"farms":[],"x":${nested(depth - 1)}}`, 10_000_000)).toEqual({
    reason: 'malformed',
    because: 'the body is nested more than 32 deep, which no reply of the API is',
  });
});

it('a reply that is nested 32 deep is within the limit', () => {
  expect(faultOf(`{"farms":[],"x":${nested(31)}}`, 100)).toBeUndefined();
});

it('the number of items replaces a list of which only the length is read', () => {
  const reply = fc.record({
    before: fc.jsonValue(),
    sessions: fc.array(fc.jsonValue()),
    'sessions of another farm': fc.jsonValue(),
  });
  fc.assert(
    fc.property(reply, fc.constantFrom(0, 1, 9), (body, indent) => {
      const shortened = withLengthOf('sessions', JSON.stringify(body, null, indent));

      expect(JSON.parse(shortened)).toEqual(JSON.parse(JSON.stringify({ ...body, sessions: body.sessions.length })));
    }),
    { numRuns: 300 },
  );
});

it.each([
  '{"params":{"sessions":[1,2]}}',
  '{"note":"sessions","list":[1]}',
  '{"sessions":null}',
  '{"sessions":{"a":[1]}}',
  '{"sessions":[1,2',
  '["sessions",[1,2]]',
  '{"sessions"',
  '"sessions',
])('a reply without that list at its top stays unchanged: %s', (text) => {
  expect(withLengthOf('sessions', text)).toBe(text);
});
