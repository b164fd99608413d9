import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacker, gzipMember, joinPacked, pack, type Packed, store } from '../../../src/metrics/gzip.ts';
import { feed, isThere } from '../../support/programs.ts';

const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), repetitive()).map((array) => Buffer.from(array));

it('leaves no more memory behind than there are bytes, though a packer has hundreds of parts in a second', () => {
  const packOne = createPacker();
  const text = Buffer.from('zlb_up{appliance="lb-1"} 1\n'.repeat(10));
  const before = process.memoryUsage().arrayBuffers;
  for (let part = 0; part < 2_000; part += 1) packOne(text);

  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000 * 1_024);
});

it('packs what comes in many pieces, as texts beyond the output of a compressor do', () => {
  const random = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index * 31) % 251));

  expect(gunzip([random, Buffer.from('zlb_up 1\n'.repeat(50))].map(createPacker()))).toHaveLength(200_450);
});

describe.each([
  { how: 'each alone', pack },
  { how: 'by one packer', pack: createPacker() },
])('packed parts, $how', ({ pack: packOne }) => {
  it('are one gzip member that unpacks to the parts in order', () => {
    fc.assert(
      fc.property(fc.array(bytes), (parts) => {
        expect(gunzip(parts.map(packOne))).toEqual(Buffer.concat(parts));
      }),
    );
  });

  it('may be stored as they are, those beyond 64 kB too, beside compressed ones', () => {
    const lengths = [0, 1, 500, 65_534, 65_535, 65_536, 200_000];
    const texts = lengths.map((length) => Buffer.alloc(length, 'zlb_up 1\n'));

    const mixed = texts.flatMap((text) => [store(text), packOne(text)]);

    expect(gunzip(mixed).equals(Buffer.concat(texts.flatMap((text) => [text, text])))).toBe(true);
    expect(texts.map(store).map(checksumOf)).toEqual(texts.map(packOne).map(checksumOf));
  });

  it('are no longer than what is stored, however little there is to compress', () => {
    for (let length = 0; length < 300; length += 1) {
      const text = Buffer.from('zlb_cpu_usage_ratio{appliance="lb-1"} 0.0173\n'.repeat(10)).subarray(0, length);

      expect(packOne(text).blocks.length).toBeLessThanOrEqual(store(text).blocks.length);
    }
  });

  it('may be joined in any nesting before', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.array(bytes, { maxLength: 4 }), { maxLength: 4 }), { maxLength: 4 }), (tree) => {
        const joined = tree.map((branch) => joinPacked(branch.map((twig) => joinPacked(twig.map(packOne)))));

        expect(gunzip(joined)).toEqual(Buffer.concat(tree.flat(2)));
        expect(joinPacked(joined).size).toBe(Buffer.concat(tree.flat(2)).length);
      }),
    );
  });

  it('may be shared by many members, since a part does not refer to what stood before it', () => {
    const [a, b] = [packOne(Buffer.from('apple\n'.repeat(100))), packOne(Buffer.from('banana\n'.repeat(100)))];

    expect(gunzip([a, b])).toEqual(Buffer.from('apple\n'.repeat(100) + 'banana\n'.repeat(100)));
    expect(gunzip([b, a, b])).toEqual(
      Buffer.from('banana\napple\nbanana\n'.replaceAll(/\w+\n/g, (line) => line.repeat(100))),
    );
  });

  it.each([
    ['no part', []],
    ['an empty part', ['']],
    ['empty parts between others', ['', 'a', '', '', 'b', '']],
  ])('of %s are a member too', (_, texts) => {
    const parts = texts.map((text) => packOne(Buffer.from(text)));

    expect(gunzip(parts).toString()).toBe(texts.join(''));
    expect(gunzip([joinPacked(parts)]).toString()).toBe(texts.join(''));
  });

  it('have the checksum of the whole, at lengths around powers of two', () => {
    for (const length of [1, 255, 256, 257, 65_535, 65_536, 65_537, 1_048_577]) {
      const text = Buffer.alloc(length, 'zlb');
      const half = Math.floor(length / 2);

      const joined = joinPacked([packOne(text.subarray(0, half)), packOne(text.subarray(half))]);

      expect(checksumOf(joined)).toEqual(checksumOf(packOne(text)));
    }
  });
});

describe.skipIf(!isThere('gzip'))('the gzip program', () => {
  it('finds nothing wrong, and no second member or garbage behind the first', () => {
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

  it('reads exactly one member, as Go and browsers are content with', () => {
    const script =
      'import sys, zlib; z = zlib.decompressobj(31); z.decompress(sys.stdin.buffer.read()); print(z.eof, len(z.unused_data))';

    expect(feed('python3', ['-c', script], sample()).stdout.toString()).toBe('True 0\n');
  });
});

function sample(): Buffer {
  const parts = Array.from({ length: 500 }, (_, index) =>
    pack(Buffer.from(`zlb_up{appliance="lb-${index}"} 1\n`.repeat(index))),
  );
  return Buffer.concat(gzipMember([joinPacked(parts.slice(0, 250)), ...parts.slice(250)]));
}

function gunzip(parts: readonly Packed[]): Buffer {
  return gunzipSync(Buffer.concat(gzipMember(parts)));
}

function checksumOf({ crc, size, shift }: Packed) {
  return { crc: crc >>> 0, size, shift };
}

/** Text with something to compress. */
function repetitive(): fc.Arbitrary<Uint8Array> {
  return fc.tuple(fc.string({ maxLength: 20 }), fc.nat(5_000)).map(([text, times]) => Buffer.from(text.repeat(times)));
}
