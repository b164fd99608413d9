import { constants, crc32, deflateRawSync } from 'node:zlib';
import { DeflateRaw } from 'minizlib';
import { assert } from '../lib/check.ts';
import { ownBytes } from './own-bytes.ts';

/**
 * Finished deflate blocks that can be joined: each is compressed on its own and ends with a full flush, so that any
 * sequence of them is one valid deflate stream (the way pigz joins what its threads compress). The checksum of a join
 * follows from the parts' checksums and lengths, without reading the text again.
 */
export interface Packed extends Checksum {
  readonly blocks: Buffer;
}

/** Of a text, so that the one of a join follows from those of its parts. */
export interface Checksum {
  /** As a signed integer: those beyond half the range would be objects of their own. */
  readonly crc: number;
  /** Bytes before compression. */
  readonly size: number;
  /** x^(8·size) modulo the CRC polynomial: what shifts a checksum past this part. */
  readonly shift: number;
}

const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const lastEmptyBlock = Buffer.from([0x03, 0x00]);

/** Turns the bytes of a part into blocks: {@link pack}, a packer, or {@link store}. */
export type Finish = (text: Buffer) => Packed;

/** Less than this does not get shorter for being compressed. */
const leastWorthBytes = 100;
/** Takes 40 % of the default's time for 8 % more bytes on parts of 20 kB; on parts of 1 kB they are alike. */
const level = constants.Z_BEST_SPEED;

/** Compresses one part; its blocks are in memory that is larger than they are. */
export function pack(text: Buffer): Packed {
  if (text.length < leastWorthBytes) return store(text);
  return packed(text, deflateRawSync(text, { level, finishFlush: constants.Z_FULL_FLUSH }));
}

/**
 * {@link pack} for parts that come by the hundred: one compressor for all of them. One for each takes twice the time, and leaves 2 kB of
 * objects and its output that stay until the next collection of old objects.
 */
export function createPacker(): Finish {
  const compressor = new DeflateRaw({ level, flush: constants.Z_FULL_FLUSH });
  return (text) => {
    if (text.length < leastWorthBytes) return store(text);
    // At once, unlike the streams of Node itself.
    compressor.write(text);
    const blocks = compressor.read();
    assert(blocks, 'what is flushed can be read');
    return packed(text, blocks);
  };
}

function packed(text: Buffer, blocks: Buffer): Packed {
  return { blocks, crc: crc32(text) | 0, size: text.length, shift: shiftFor(text.length) };
}

const mostStoredBytes = 0xffff;

/** Takes one part as it is: for what is another text so soon that to compress it costs more than to send it. */
export function store(text: Buffer): Packed {
  const blocks: Buffer[] = [];
  for (let start = 0; start < text.length; start += mostStoredBytes) {
    const content = text.subarray(start, start + mostStoredBytes);
    // The type of the block, its length, and the same with all bits turned.
    const head = Buffer.alloc(5);
    head.writeUInt16LE(content.length, 1);
    head.writeUInt16LE(content.length ^ mostStoredBytes, 3);
    blocks.push(head, content);
  }
  return packed(text, Buffer.concat(blocks));
}

/** Several parts as one part: their blocks in a row, their checksums combined. A single part is itself. */
export function joinPacked(parts: readonly Packed[]): Packed {
  const [first, second] = parts;
  if (first && !second) return first;
  return { blocks: ownBytes(parts.map((part) => part.blocks)), ...combineChecksums(parts) };
}

/** The buffers that, written one after the other, are one gzip member holding all parts in order. */
export function gzipMember(parts: readonly Packed[]): Buffer[] {
  const { crc, size } = combineChecksums(parts);
  const trailer = Buffer.allocUnsafe(8);
  trailer.writeUInt32LE(crc >>> 0, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  return [header, ...parts.map((part) => part.blocks), lastEmptyBlock, trailer];
}

/** Of the texts of all parts in a row. */
export function combineChecksums(parts: readonly Checksum[]): Checksum {
  let crc = 0;
  let size = 0;
  for (const part of parts) {
    crc = multiply(part.shift, crc) ^ part.crc;
    size += part.size;
  }
  return { crc, size, shift: shiftFor(size) };
}

// CRC-32 arithmetic as in zlib's crc32_combine: polynomials over GF(2), bit-reversed, modulo the CRC polynomial.
const polynomial = 0xedb88320;
const one = 1 << 31; // the polynomial 1

// Without branches, as a page has thousands of parts: 40 ns instead of 200.
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit -= 1) {
    product ^= shifted & -((a >>> bit) & 1);
    shifted = (shifted >>> 1) ^ (polynomial & -(shifted & 1));
  }
  return product;
}

function shiftFor(bytes: number): number {
  // Begins at x^8, one byte, and squares for each binary digit of the length.
  let power = one >>> 8;
  let shift: number = one;
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift;
}
