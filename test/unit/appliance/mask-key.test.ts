import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { array, assert, asyncProperty, constantFrom, nat, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskStream, maskWhole } from '../../../src/appliance/api-key.ts';
import { Secret } from '../../../src/lib/secret.ts';

const key = 'abcabcabd';

async function masked(chunks: readonly string[], secret = key): Promise<string> {
  const mask = maskStream(new Secret(secret));
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return (await buffer(mask ? source.pipe(mask) : source)).toString();
}

describe('masking a secret in a stream', () => {
  it('overwrites every occurrence and keeps the length', async () => {
    expect(await masked([`{"a":"${key}","b":"${key}${key}"}`])).toBe(
      `{"a":"${'*'.repeat(9)}","b":"${'*'.repeat(18)}"}`,
    );
  });

  it('finds it for every split into chunks', async () => {
    await assert(
      asyncProperty(
        array(constantFrom('x', 'abc', 'abcabc', 'd', key, 'ab'), { maxLength: 12 }),
        array(nat(60), { maxLength: 5 }),
        async (parts, cuts) => {
          const text = parts.join('');
          const places = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort(
            (a, b) => a - b,
          );
          const chunks = places.slice(1).map((end, index) => text.slice(places[index], end));

          const expected = text.replaceAll(key, '*'.repeat(key.length));
          expect(await masked(chunks)).toBe(expected);
          expect(maskWhole(Buffer.from(text), new Secret(key)).toString()).toBe(expected);
        },
      ),
    );
  });

  it('does not change a text if the secret is as short as a word', async () => {
    expect(await masked(['a key in a text'], 'key')).toBe('a key in a text');
  });

  it.each(['ab\\cdefghi', 'ab\\\\cdefghi', '\\bcdefghi\\'])('finds %s in a text that is no JSON', async (secretKey) => {
    const stars = '*'.repeat(secretKey.length);
    expect(await masked(['Your key ', secretKey, ' is wrong.'], secretKey)).toBe(`Your key ${stars} is wrong.`);
    expect(maskWhole(Buffer.from(`é ${secretKey}`), new Secret(secretKey)).toString()).toBe(`é ${stars}`);
  });

  it('finds it in every JSON spelling, for every split, and changes no other byte', async () => {
    const secretKey = 'a/B"c\\d~1-';
    const spelled = (pick: number): string =>
      Array.from(secretKey, (character, index) => {
        const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
        const usual = JSON.stringify(character).slice(1, -1);
        return [usual, `\\u${hex}`, `\\u${hex.toUpperCase()}`, usual.replace('/', '\\/')][(pick >> index) % 4];
      }).join('');

    await assert(
      asyncProperty(string(), nat(), array(nat(200), { maxLength: 8 }), async (before, pick, cuts) => {
        const start = `{"name":${JSON.stringify(`é${before} `).slice(0, -1)}`;
        const found = spelled(pick);
        const end = '","next":"a\\u002f\\\\B"}';
        const bytes = Buffer.from(start + found + end);
        const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        const chunks = places.slice(1).map((to, index) => bytes.subarray(places[index], to));

        const expected = start + '*'.repeat(found.length) + end;
        const stream = maskStream(new Secret(secretKey));
        if (!stream) throw new Error('the key is long enough');
        expect((await buffer(Readable.from(chunks).pipe(stream))).toString()).toBe(expected);
        expect(maskWhole(bytes, new Secret(secretKey)).toString()).toBe(expected);
      }),
    );
  });
});
