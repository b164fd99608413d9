import { describe, expect, it } from 'vitest';
import { isSame, kept, keptRows } from '../../../src/lib/same.ts';
import { Secret } from '../../../src/lib/secret.ts';

const settings = () => ({
  name: 'lb',
  url: new URL('https://192.0.2.1:444'),
  apiKey: new Secret('a-key-of-it'),
  farms: { include: [/^a$/s], exclude: [] as RegExp[] },
  maxStaleMs: 180_000,
});

describe('two settings', () => {
  it('are the same when all they say is the same, though they are other objects', () => {
    expect(isSame(settings(), settings())).toBe(true);
  });

  it.each([
    ['another secret', { apiKey: new Secret('another-key') }],
    ['a text in place of a secret', { apiKey: 'a-key-of-it' }],
    ['another address', { url: new URL('https://192.0.2.1:445') }],
    ['another pattern', { farms: { include: [/^b$/s], exclude: [] } }],
    ['other flags of a pattern', { farms: { include: [/^a$/], exclude: [] } }],
    ['a pattern more', { farms: { include: [/^a$/s], exclude: [/^b$/s] } }],
    ['another number', { maxStaleMs: 180_001 }],
    ['a key more', { adminApiKey: undefined }],
    ['a pattern in place of an address', { url: /x/ }],
  ])('differ by %s', (_, change) => {
    expect(isSame(settings(), { ...settings(), ...change })).toBe(false);
    expect(isSame({ ...settings(), ...change }, settings())).toBe(false);
  });
});

describe('what is kept', () => {
  it('is the very same object where the next one says the same, and the next one where it does not', () => {
    const before = { a: [1, { b: 'x' }] };
    const other = { a: [1, { b: 'y' }] };

    expect(kept(before, structuredClone(before))).toBe(before);
    expect(kept(before, other)).toBe(other);
    expect(kept(undefined, other)).toBe(other);
  });

  it('is each row that says the same at its place, and the list where all of them do', () => {
    const before = [{ a: 1 }, { a: 2 }];

    expect(keptRows(before, structuredClone(before))).toBe(before);
    const changed = keptRows(before, [{ a: 1 }, { a: 3 }, { a: 4 }]);
    expect(changed).toEqual([{ a: 1 }, { a: 3 }, { a: 4 }]);
    expect(changed[0]).toBe(before[0]);
    expect(keptRows(before, [{ a: 1 }])).toEqual([{ a: 1 }]);
    expect(keptRows(undefined, before)).toBe(before);
  });
});
