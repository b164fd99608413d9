import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { globMatcher } from '../../../src/lib/text.ts';

it.each([
  ['lb-*', 'lb-paris', true],
  ['lb-*', 'lb-', true],
  ['lb-*', 'my-lb-paris', false],
  ['*-paris', 'lb-paris', true],
  ['lb', 'lb', true],
  ['lb', 'lbs', false],
  ['a*a', 'a', false],
  ['a*b*c', 'a-c-b', false],
  ['*', '', true],
  ['l.', 'lb', false],
  ['a*c', 'a\nc', true],
])('the pattern %j on %j: %s', (glob, text, fits) => {
  expect(globMatcher(glob)(text)).toBe(fits);
});

it('a pattern with stars matches the same texts as the equivalent regular expression', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });

  fc.assert(
    fc.property(word, text, (glob, name) => {
      expect(globMatcher(glob)(name)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name));
    }),
    { numRuns: 2_000 },
  );
});

it('a pattern with stars terminates for any number of stars and any length of text', () => {
  expect(globMatcher('*a'.repeat(20_000))(`${'a'.repeat(19_999)}b`)).toBe(false);
});
