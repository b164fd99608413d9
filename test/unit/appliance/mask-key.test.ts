import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { array, assert, asyncProperty, constantFrom, nat } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskStream, maskWhole } from '../../../src/appliance/mask-key.ts';
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

  it('finds it wherever the chunks are cut', async () => {
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

  it('leaves a text alone when the secret is as short as a word', async () => {
    expect(await masked(['a key in a text'], 'key')).toBe('a key in a text');
  });
});
