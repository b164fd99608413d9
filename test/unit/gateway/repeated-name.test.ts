import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedName } from '../../../src/gateway/request-body.ts';

describe('a name that an object has twice', () => {
  it.each([
    ['at the top', '{"action":"start","action":"bogus"}', 'action'],
    ['with the same value', '{"a":1,"a":1}', 'a'],
    ['far apart', `{"a":1,${Array.from({ length: 1_000 }, (_, index) => `"f${index}":0,`).join('')}"a":2}`, 'a'],
    ['in a nested object', '{"x":{"y":[1,{"mode":"drain","mode":"cut"}]}}', 'mode'],
    ['after a nested object that has it too', '{"a":{"a":1},"b":[{"a":1}],"a":2}', 'a'],
    ['spelled with escapes', '{"action":"start","\\u0061ction":"stop"}', 'action'],
    ['spelled with capital digits in escapes', '{"\\u006Aob":1,"job":2}', 'job'],
    ['spelled with a short escape', '{"a\\/b":1,"a/b":2}', 'a/b'],
    ['as surrogates and as one letter', '{"\\ud83d\\ude00":1,"\u{1f600}":2}', '\u{1f600}'],
    ['that is empty', '{"":1,"":2}', ''],
    ['that every object has', '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['with blanks around the colons', '{ "a" \n:\t1 ,\r\n "a"   : 2 }', 'a'],
    ['that holds quotes, brackets and colons', '{"\\"a\\":{[":1,"\\"a\\":{[":2}', '"a":{['],
    ['that ends in a backslash', '{"a\\\\":"\\\\","a\\\\":2}', 'a\\'],
  ])('is found %s', (_, json, name) => {
    expect(repeatedName(json)).toBe(name);
  });

  it.each([
    '{}',
    '[]',
    '"a:a"',
    '{"a":"a","b":"a"}',
    '{"a":1,"A":2,"a ":3}',
    '{"a":{"a":{"a":[]}}}',
    '[{"a":1},{"a":2}]',
    '{"a":["b","b"],"b":{"a":1,"b":"a"}}',
    '{"a":"{\\"b\\":1,\\"b\\":2}","b":"\\\\"}',
    '{"\\u0061\\u0301":1,"\u00e1":2}',
  ])('is not found in %s', (json) => {
    expect(repeatedName(json)).toBeUndefined();
  });

  it('is not found in anything that JSON.stringify writes, and is found once it is put there', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 });

    fc.assert(
      fc.property(fc.jsonValue(), names, (value, keys) => {
        const members = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
        const [first = ''] = keys;
        return (
          repeatedName(`[{${members.join(',')}}]`) === undefined &&
          repeatedName(`[{${[...members, `${JSON.stringify(first)}:0`].join(',')}}]`) === first
        );
      }),
    );
  });

  it('is looked for at any depth and in a megabyte at once', () => {
    const deep = `${'{"a":['.repeat(150_000)}{"b":1,"b":2}${']}'.repeat(150_000)}`;
    const quotes = `{"a":"${'\\"'.repeat(500_000)}"}`;
    const blanks = `{"a"${' '.repeat(1_000_000)}:1}`;
    const startedAt = performance.now();

    expect([deep, quotes, blanks].map(repeatedName)).toEqual(['b', undefined, undefined]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
