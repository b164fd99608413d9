import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader, maxLineBytes } from '../../../src/request-log/frames.ts';

/** Keeps lines and faults, and is over its limit after `atOnce` frames until it is reset. */
function givenSink(atOnce = Number.POSITIVE_INFINITY) {
  const lines: string[] = [];
  const faults: string[] = [];
  let spent = 0;
  return {
    lines,
    faults,
    line: (line: string) => void (spent += lines.push(line) && 1),
    fault: (fault: string) => void (spent += faults.push(fault) && 1),
    charge: () => void (spent += 1),
    get takesNoMore() {
      return spent >= atOnce;
    },
    /** Returns what was spent, and begins again. */
    reset: () => {
      const before = spent;
      spent = 0;
      return before;
    },
  };
}

/** Reads a stream in pieces of a size. */
function read(stream: string, pieceBytes = stream.length) {
  const sink = givenSink();
  const reader = new FrameReader();
  const bytes = Buffer.from(stream, 'latin1');
  for (let from = 0; from < bytes.length; from += pieceBytes)
    reader.read(sink, bytes.subarray(from, from + pieceBytes));
  reader.end(sink);
  const { lines, faults } = sink;
  return { lines, faults };
}

const counted = (line: string) => `${line.length} ${line}`;
const long = `<1>${'x'.repeat(maxLineBytes)}`;

describe('the framing of a stream', () => {
  it.each([
    ['lines', '<1>a\n<2>b\n', ['<1>a', '<2>b'], []],
    ['frames with their length', counted('<1>a\nb') + counted('<2>c'), ['<1>a\nb', '<2>c'], []],
    ['both, one after the other', `<1>a\n${counted('<2>b')}<3>c\n`, ['<1>a', '<2>b', '<3>c'], []],
    ['empty lines', '\n\n<1>a\n', ['<1>a'], ['empty', 'empty']],
    ['a line that is too long', `${long}\n<1>a\n`, ['<1>a'], ['too_long']],
    ['a frame that is too long', `${counted(long)}<1>a\n`, ['<1>a'], ['too_long']],
    ['what is not a line', 'GET / HTTP/1.1\n<1>a\n', ['<1>a'], ['malformed']],
    ['a length that never ends', `123456789 <1>a\n<2>b\n`, ['<2>b'], ['malformed']],
    ['a line that was cut off', '<1>a\n<2>b', ['<1>a'], ['malformed']],
    ['a frame that was cut off', '9 <1>a', [], ['malformed']],
    ['binary', '\0\xff\x80\n<1>a\n', ['<1>a'], ['malformed']],
  ])('splits %s', (_, stream, lines, faults) => {
    expect(read(stream)).toEqual({ lines, faults });
    expect(read(stream, 1), 'byte by byte').toEqual({ lines, faults });
  });

  it('buffers at most one frame of an endless line', () => {
    const sink = givenSink();
    const reader = new FrameReader();
    const piece = Buffer.alloc(65_536, 'x');
    reader.read(sink, Buffer.from('<'));
    for (let index = 0; index < 1_000; index += 1) reader.read(sink, piece);

    expect(sink.faults).toEqual(['too_long']);
    reader.end(sink);
    expect(sink.faults).toHaveLength(1);
    expect(sink.reset(), 'spent for pieces').toBeGreaterThan(1_000);
  });

  it.each([
    ['lines', '<1>a\n', 'lines'],
    ['malformed lines', 'a\n', 'faults'],
    ['empty lines', '\n', 'faults'],
    ['frames with their length', counted('<1>a'), 'lines'],
    ['frames that are too long', counted(long), 'faults'],
  ] as const)('leaves %s above the limit for later, one by one', (_, frame, kind) => {
    const sink = givenSink(10);
    const reader = new FrameReader();
    let isRead = reader.read(sink, Buffer.from(frame.repeat(35)));
    expect(sink[kind].length).toBeLessThanOrEqual(10);

    for (let turn = 0; !isRead && turn < 40; turn += 1) {
      expect(sink.reset()).toBeLessThanOrEqual(11);
      isRead = reader.read(sink);
    }
    expect(isRead).toBe(true);
    expect(sink[kind]).toHaveLength(35);
  });

  it('yields the same lines however the stream is split', () => {
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
