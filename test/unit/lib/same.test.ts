import { expect, it } from 'vitest';
import { isSame } from '../../../src/lib/same.ts';
import { NamePattern } from '../../../src/lib/name-pattern.ts';
import { Secret } from '../../../src/lib/secret.ts';

const settings = () => ({
  name: 'lb',
  url: new URL('https://192.0.2.1:444'),
  apiKey: new Secret('a-key-of-it'),
  farms: { include: [new NamePattern('a')], exclude: [] as NamePattern[] },
  maxStaleMs: 180_000,
});

it('two settings are equal if all values are equal, even as different objects', () => {
  expect(isSame(settings(), settings())).toBe(true);
});

it.each([
  ['another secret', { apiKey: new Secret('another-key') }],
  ['a text instead of a secret', { apiKey: 'a-key-of-it' }],
  ['another address', { url: new URL('https://192.0.2.1:445') }],
  ['another pattern', { farms: { include: [new NamePattern('b')], exclude: [] } }],
  ['a pattern more', { farms: { include: [new NamePattern('a')], exclude: [new NamePattern('b')] } }],
  ['another number', { maxStaleMs: 180_001 }],
  ['a key more', { adminApiKey: undefined }],
  ['a pattern instead of an address', { url: /x/ }],
])('two settings differ by %s', (_, change) => {
  expect(isSame(settings(), { ...settings(), ...change })).toBe(false);
  expect(isSame({ ...settings(), ...change }, settings())).toBe(false);
});
