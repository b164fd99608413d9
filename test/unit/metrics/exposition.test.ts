import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExposition, type TextRange } from '../../../src/metrics/exposition.ts';
import { feed, isThere } from '../../support/programs.ts';

const texts = fc.tuple(fc.string({ maxLength: 20, unit: 'grapheme' }), fc.nat(5_000));

describe('a compressed exposition', () => {
  it('decompresses to its text and any end, also for two readers with different ends', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, texts, async (...parts) => {
        const [text, end, other] = parts.map(([part, times]) => part.repeat(times)) as [string, string, string];
        const exposition = await createExposition(rangesOf(text), 'gzip');

        expect(gunzipSync(Buffer.concat(exposition.finish(end))).toString()).toBe(text + end);
        expect(gunzipSync(Buffer.concat(exposition.finish(other))).toString()).toBe(text + other);
      }),
    );
  });

  it('decompresses to a text that is longer than one compressed block', async () => {
    const lines = Array.from({ length: 90_000 }, (_, index) => `zlb_up{appliance="lb-${index}"} 1\n`);
    const exposition = await createExposition(rangesOf(...lines), 'gzip');

    expect(gunzipSync(Buffer.concat(exposition.finish('# EOF\n'))).toString()).toBe(`${lines.join('')}# EOF\n`);
  });

  it.skipIf(!isThere('python3'))('is one gzip member, for clients that read no second one', async () => {
    const script =
      'import sys, zlib; z = zlib.decompressobj(31); z.decompress(sys.stdin.buffer.read()); print(z.eof, len(z.unused_data))';

    expect(feed('python3', ['-c', script], await sample()).stdout.toString()).toBe('True 0\n');
  });
});

async function sample(): Promise<Buffer> {
  const lines = Array.from({ length: 20_000 }, (_, index) => `zlb_up{appliance="lb-${index}"} 1\n`);
  const exposition = await createExposition(rangesOf(...lines), 'gzip');
  return Buffer.concat(exposition.finish('# EOF\n'));
}

/** Texts as parts of one memory. */
function rangesOf(...texts: readonly string[]): readonly TextRange[] {
  const bytes = Buffer.from(texts.join(''));
  let end = 0;
  return texts.map((text) => {
    const start = end;
    end += Buffer.byteLength(text);
    return { bytes, start, end };
  });
}
