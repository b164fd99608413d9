import { expect, it } from 'vitest';
import { NamePattern } from '../../../src/lib/name-pattern.ts';

it.each([
  ['.*', 'web\nshop\r\u2028', true],
  ['web-.*', 'web-1', true],
  ['web-.*', 'a web-1', false],
  ['web|shop', 'shop', true],
  ['web|shop', 'shops', false],
  [String.raw`\w+\.example\.com`, 'shop.example.com', true],
  [String.raw`\x{e9}t\x{e9}-\d{2}`, 'été-12', true],
  ['(?:[^-]+)-(?:prod|test)', 'shop-prod', true],
  ['.', '\n', true],
])('the pattern %j on %j is %s', (pattern, name, isMatch) => {
  expect(new NamePattern(pattern).test(name)).toBe(isMatch);
});

// Each takes a RegExp for ever.
it.each(['([a-z]+-?)+', '(a+)+', '(a|a)*', '(a|aa)+', '(.*a){20}', String.raw`(\w+\s?)*`, '(x+x+)+y', '(a*)*b'])(
  'the pattern %j terminates quickly for any name',
  (pattern) => {
    const before = process.threadCpuUsage();

    expect(new NamePattern(pattern).test(`${'a'.repeat(127)}!`)).toBe(false);

    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
  },
);

it.each(['a(?=b)', '(?!test).*', String.raw`(a)\1`, String.raw`shop\Z`, 'a)(b', '[a', '*', 'x{2000}'])(
  'the pattern %j is refused',
  (pattern) => {
    expect(() => new NamePattern(pattern)).toThrow();
  },
);
