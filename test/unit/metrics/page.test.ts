import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deflate, type Deflated, gzipMember, joinDeflated } from '../../../src/metrics/page.ts';
import { feed, isThere } from '../../support/programs.ts';

const texts = fc.oneof(fc.string({ maxLength: 300, unit: 'grapheme' }), repetitive());

it('keeps no more memory than the blocks need', () => {
  for (const times of [1, 10, 1_000]) {
    const { blocks } = deflate('zlb_up{appliance="lb-1"} 1\n'.repeat(times));

    expect(blocks.buffer.byteLength).toBe(blocks.length);
  }
});

describe('deflated texts', () => {
  it('are one gzip member that unpacks to the parts in order', () => {
    fc.assert(
      fc.property(fc.array(texts), (parts) => {
        expect(gunzip(parts.map(deflate))).toBe(parts.join(''));
      }),
    );
  });

  it('are hardly longer than the text, even if it cannot be compressed', () => {
    for (let length = 0; length < 300; length += 1) {
      const text = 'zlb_cpu_usage_ratio{appliance="lb-1"} 0.0173\n'.repeat(10).slice(0, length);

      expect(deflate(text).blocks.length).toBeLessThanOrEqual(length + 5);
    }
  });

  it('of any length unpack to the text, also beyond one output buffer of zlib', () => {
    const random = Array.from({ length: 200_000 }, (_, index) => (index * index * 31) % 251).join(' ');

    expect(gunzip([random, 'zlb_up 1\n'.repeat(50)].map(deflate))).toBe(random + 'zlb_up 1\n'.repeat(50));
  });

  it('can be joined in any nesting', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.array(texts, { maxLength: 4 }), { maxLength: 4 }), { maxLength: 4 }), (tree) => {
        const joined = tree.map((branch) => joinDeflated(branch.map((twig) => joinDeflated(twig.map(deflate)))));

        expect(gunzip(joined)).toBe(tree.flat(2).join(''));
        expect(joinDeflated(joined).size).toBe(Buffer.byteLength(tree.flat(2).join('')));
      }),
    );
  });

  it('can be shared by many members, because no part refers to an earlier one', () => {
    const [a, b] = [deflate('apple\n'.repeat(100)), deflate('banana\n'.repeat(100))];

    expect(gunzip([a, b])).toBe('apple\n'.repeat(100) + 'banana\n'.repeat(100));
    expect(gunzip([b, a, b])).toBe('banana\napple\nbanana\n'.replaceAll(/\w+\n/g, (line) => line.repeat(100)));
  });

  it.each([
    ['no part', []],
    ['an empty part', ['']],
    ['empty parts between others', ['', 'a', '', '', 'b', '']],
  ])('of %s are a member too', (_, given) => {
    const parts = given.map(deflate);

    expect(gunzip(parts)).toBe(given.join(''));
    expect(gunzip([joinDeflated(parts)])).toBe(given.join(''));
  });

  it('have the checksum of the whole, at lengths around powers of two', () => {
    for (const length of [1, 255, 256, 257, 65_535, 65_536, 65_537, 1_048_577]) {
      const text = 'zlb'.repeat(length).slice(0, length);
      const half = Math.floor(length / 2);

      const joined = joinDeflated([deflate(text.slice(0, half)), deflate(text.slice(half))]);

      expect(checksumOf(joined)).toEqual(checksumOf(deflate(text)));
    }
  });
});

describe.skipIf(!isThere('gzip'))('the gzip program', () => {
  it('finds no fault, no second member and no garbage', () => {
    expect(feed('gzip', ['--test', '--verbose'], sample())).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining('garbage'),
    });
  });

  it('unpacks the same bytes', () => {
    const { stdout } = feed('gzip', ['--decompress', '--stdout'], sample());

    expect(stdout.equals(gunzipSync(sample()))).toBe(true);
  });
});

describe.skipIf(!isThere('python3'))('the gzip module of Python', () => {
  it('unpacks the same bytes', () => {
    const script = 'import gzip, sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))';

    const { stdout } = feed('python3', ['-c', script], sample());

    expect(stdout.equals(gunzipSync(sample()))).toBe(true);
  });

  it('reads exactly one member, as Go and browsers do', () => {
    const script =
      'import sys, zlib; z = zlib.decompressobj(31); z.decompress(sys.stdin.buffer.read()); print(z.eof, len(z.unused_data))';

    expect(feed('python3', ['-c', script], sample()).stdout.toString()).toBe('True 0\n');
  });
});

function sample(): Buffer {
  const parts = Array.from({ length: 500 }, (_, index) => deflate(`zlb_up{appliance="lb-${index}"} 1\n`.repeat(index)));
  return member([joinDeflated(parts.slice(0, 250)), ...parts.slice(250)]);
}

function member(parts: readonly Deflated[]): Buffer {
  const blocks = parts.map((part) => part.blocks);
  return Buffer.concat(gzipMember(blocks, joinDeflated(parts)));
}

function gunzip(parts: readonly Deflated[]): string {
  return gunzipSync(member(parts)).toString();
}

function checksumOf({ crc, size, shift }: Deflated) {
  return { crc: crc >>> 0, size, shift };
}

/** Text with something to compress. */
function repetitive(): fc.Arbitrary<string> {
  return fc.tuple(fc.string({ maxLength: 20 }), fc.nat(5_000)).map(([text, times]) => text.repeat(times));
}
