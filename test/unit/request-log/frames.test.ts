import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader, maxLineBytes } from '../../../src/request-log/frames.ts';

/** Reads a stream in pieces of a size. */
function read(stream: string, pieceBytes = stream.length) {
  const lines: string[] = [];
  const faults: string[] = [];
  const reader = new FrameReader(
    (line) => lines.push(line),
    (fault) => faults.push(fault),
  );
  const bytes = Buffer.from(stream, 'latin1');
  for (let from = 0; from < bytes.length; from += pieceBytes) reader.read(bytes.subarray(from, from + pieceBytes));
  reader.end();
  return { lines, faults };
}

const counted = (line: string) => `${line.length} ${line}`;
const long = `<1>${'x'.repeat(maxLineBytes)}`;

describe('the frames of a stream', () => {
  it.each([
    ['lines', '<1>a\n<2>b\n', ['<1>a', '<2>b'], []],
    ['frames with their length', counted('<1>a\nb') + counted('<2>c'), ['<1>a\nb', '<2>c'], []],
    ['both, one after the other', `<1>a\n${counted('<2>b')}<3>c\n`, ['<1>a', '<2>b', '<3>c'], []],
    ['empty lines', '\n\n<1>a\n', ['<1>a'], []],
    ['a line that is too long', `${long}\n<1>a\n`, ['<1>a'], ['too_long']],
    ['a frame that is too long', `${counted(long)}<1>a\n`, ['<1>a'], ['too_long']],
    ['what is no line', 'GET / HTTP/1.1\n<1>a\n', ['<1>a'], ['malformed']],
    ['a length that never ends', `123456789 <1>a\n<2>b\n`, ['<2>b'], ['malformed']],
    ['a line that was cut off', '<1>a\n<2>b', ['<1>a'], ['malformed']],
    ['a frame that was cut off', '9 <1>a', [], ['malformed']],
    ['binary', '\0\xff\x80\n<1>a\n', ['<1>a'], ['malformed']],
  ])('are %s', (_, stream, lines, faults) => {
    expect(read(stream)).toEqual({ lines, faults });
    expect(read(stream, 1), 'byte by byte').toEqual({ lines, faults });
  });

  it('keeps no more than a frame of a line that never ends', () => {
    const faults: string[] = [];
    const reader = new FrameReader(
      () => expect.unreachable(),
      (fault) => faults.push(fault),
    );
    const piece = Buffer.alloc(65_536, 'x');
    reader.read(Buffer.from('<'));
    for (let index = 0; index < 1_000; index += 1) reader.read(piece);

    expect(faults).toEqual(['too_long']);
    reader.end();
    expect(faults).toHaveLength(1);
  });

  it('gives the same lines however the stream is cut', () => {
    const line = fc.string({ maxLength: 40 }).map((text) => `<1>${text.replaceAll(/[^\x20-\x7e]/g, '')}`);
    const framed = fc.tuple(line, fc.boolean());
    fc.assert(
      fc.property(fc.array(framed, { maxLength: 20 }), fc.integer({ min: 1, max: 50 }), (frames, pieceBytes) => {
        const stream = frames.map(([text, isCounted]) => (isCounted ? counted(text) : `${text}\n`)).join('');
        expect(read(stream, pieceBytes)).toEqual({ lines: frames.map(([text]) => text), faults: [] });
      }),
    );
  });
});
