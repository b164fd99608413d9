import { describe, expect, it } from 'vitest';
import { isSame } from '../../../src/lib/same.ts';
import { Secret } from '../../../src/lib/secret.ts';

const settings = () => ({
  name: 'lb',
  url: new URL('https://192.0.2.1:444'),
  apiKey: new Secret('a-key-of-it'),
  farms: { include: [/^a$/s], exclude: [] as RegExp[] },
  maxStaleMs: 180_000,
});

describe('two settings', () => {
  it('are equal if all values are equal, also as different objects', () => {
    expect(isSame(settings(), settings())).toBe(true);
  });

  it.each([
    ['another secret', { apiKey: new Secret('another-key') }],
    ['a text instead of a secret', { apiKey: 'a-key-of-it' }],
    ['another address', { url: new URL('https://192.0.2.1:445') }],
    ['another pattern', { farms: { include: [/^b$/s], exclude: [] } }],
    ['other flags of a pattern', { farms: { include: [/^a$/], exclude: [] } }],
    ['a pattern more', { farms: { include: [/^a$/s], exclude: [/^b$/s] } }],
    ['another number', { maxStaleMs: 180_001 }],
    ['a key more', { adminApiKey: undefined }],
    ['a pattern instead of an address', { url: /x/ }],
  ])('differ by %s', (_, change) => {
    expect(isSame(settings(), { ...settings(), ...change })).toBe(false);
    expect(isSame({ ...settings(), ...change }, settings())).toBe(false);
  });
});
