import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBodyScrubber, maskStream, maskWhole } from '../../../src/appliance/api-key.ts';
import { Secret } from '../../../src/lib/secret.ts';

const usual = (character: string) => JSON.stringify(character).slice(1, -1);
const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0');
const spellings = [
  usual,
  (character: string) => `\\u${hex(character)}`,
  (character: string) => `\\u${hex(character).toUpperCase()}`,
  (character: string) => (character === '/' ? '\\/' : usual(character)),
];

/** A key, and how a JSON text may spell it, in any mixture. */
const spelledKey = fc
  .array(
    fc
      .constantFrom(...'aZ09-_.~+/"\\=$(*')
      .chain((each) => fc.constantFrom(...spellings.map((how) => ({ character: each, spelling: how(each) })))),
    { minLength: 8, maxLength: 40 },
  )
  .map((pairs) => ({
    key: pairs.map(({ character }) => character).join(''),
    spelling: pairs.map(({ spelling }) => spelling).join(''),
  }));

describe('redacting a key in a stream', () => {
  const repetitive = 'abcabcabd';
  const cuts = fc.array(fc.nat(200), { maxLength: 8 });

  /** The text in pieces that end at the cuts. */
  function piecesOf(text: string, at: readonly number[]): readonly Buffer[] {
    const bytes = Buffer.from(text);
    const places = [...new Set([0, ...at.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b);
    return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
  }

  async function masked(pieces: readonly Buffer[], key = repetitive): Promise<string> {
    const mask = maskStream(new Secret(key));
    const source = Readable.from(pieces);
    return (await buffer(mask ? source.pipe(mask) : source)).toString();
  }

  it('finds every occurrence for every split, and keeps the length', async () => {
    const words = fc.array(fc.constantFrom('x', 'abc', 'abcabc', 'd', repetitive, 'ab'), { maxLength: 12 });

    await fc.assert(
      fc.asyncProperty(words, cuts, async (parts, at) => {
        const text = parts.join('');
        const expected = text.replaceAll(repetitive, '*'.repeat(repetitive.length));

        expect(await masked(piecesOf(text, at))).toBe(expected);
        expect(maskWhole(Buffer.from(text), new Secret(repetitive)).toString()).toBe(expected);
      }),
    );
  });

  it('finds the key in every JSON spelling, for every split, and changes no other byte', async () => {
    await fc.assert(
      fc.asyncProperty(spelledKey, fc.string(), cuts, async ({ key, spelling }, before, at) => {
        const start = `{"name":${JSON.stringify(`é${before} `).slice(0, -1)}`;
        const end = '","next":"a\\u002f\\\\B"}';
        const text = start + spelling + end;
        const expected = start + '*'.repeat(spelling.length) + end;

        expect(await masked(piecesOf(text, at), key)).toBe(expected);
        expect(maskWhole(Buffer.from(text), new Secret(key)).toString()).toBe(expected);
      }),
    );
  });

  it('leaves a text unchanged if the key is as short as a word', async () => {
    expect(await masked([Buffer.from('a key in a text')], 'key')).toBe('a key in a text');
  });

  it.each(['ab\\cdefghi', 'ab\\\\cdefghi', '\\bcdefghi\\'])('finds %s in a text that is not JSON', async (key) => {
    const text = `Your key é ${key} is wrong.`;
    const expected = text.replace(key, '*'.repeat(key.length));

    expect(await masked(piecesOf(text, [9, 14]), key)).toBe(expected);
    expect(maskWhole(Buffer.from(text), new Secret(key)).toString()).toBe(expected);
  });
});

describe('redacting a body', () => {
  const scrub = (body: string, key = 'canary-key'): string => createBodyScrubber([new Secret(key)])(body);

  it('removes a key from any JSON, in any mixture of spellings', () => {
    fc.assert(
      fc.property(spelledKey, fc.string(), ({ key, spelling }, before) => {
        const text = `{"name":${JSON.stringify(before).slice(0, -1)} ${spelling}"}`;

        expect((JSON.parse(text) as { name: string }).name).toContain(key);
        expect((JSON.parse(scrub(text, key)) as { name: string }).name).not.toContain(key);
      }),
    );
  });

  it.each([
    ['every JSON spelling', '{"vip":"\\u0063anary-key"}', '{"vip":"[redacted]"}'],
    ['a text that is not JSON', '<p>canary-key</p>', '<p>[redacted]</p>'],
    ['extreme nesting', `${'['.repeat(1_000_000)}"\\u0063anary-key"`, `${'['.repeat(1_000_000)}"[redacted]"`],
    ['nothing else', '{"message":"one\\ntwo","port":80}', '{"message":"one\\ntwo","port":80}'],
  ])('removes the key from %s', (_, body, clean) => {
    expect(scrub(body)).toBe(clean);
  });

  it('leaves a reply unchanged for a key of a few characters', () => {
    expect(scrub('{"port":8080}', '80')).toBe('{"port":8080}');
  });
});
