import { constants, crc32, deflateRawSync } from 'node:zlib';

/**
 * Prometheus text 0.0.4, or OpenMetrics 1.0. Only the headers of counters and the last line differ.
 */
export const formats = ['text', 'openmetrics'] as const;
export type Format = (typeof formats)[number];

export type Encoding = 'identity' | 'gzip' | 'zstd';

/** The form in which a client asks for an exposition. */
export interface Representation {
  readonly format: Format;
  readonly encoding: Encoding;
}

/** Finished lines, as text and compressed. */
export interface Chunk {
  text(): Buffer;
  readonly deflated: Deflated;
}

/** Finished bytes in the order of the families, for one scrape or for many. They never change. */
export interface Page {
  /** Deflate blocks for gzip, else text: zstd is made of it while it is sent. */
  readonly bytes: Buffer;
  readonly checksum: Checksum;
}

export function createPage(chunks: readonly Chunk[], encoding: Encoding): Page {
  const checksum = combineChecksums(chunks.map(({ deflated }) => deflated));
  const bytes = Buffer.concat(chunks.map((chunk) => (encoding === 'gzip' ? chunk.deflated.blocks : chunk.text())));
  return { bytes, checksum };
}

/**
 * Adds text at the end of an exposition; for gzip also what makes one member of all. Returns the
 * buffers in their order.
 */
export function finishPage({ bytes, checksum }: Page, encoding: Encoding, end: string): readonly Buffer[] {
  if (encoding !== 'gzip') return [bytes, Buffer.from(end)];
  const last = deflate(end);
  return gzipMember([bytes, last.blocks], combineChecksums([checksum, last]));
}

/**
 * Finished deflate blocks that can be joined: each text is compressed on its own and ends with a
 * full flush, so that any sequence of them is one valid deflate stream (as pigz joins what its
 * threads compress). The checksum of the whole follows from the checksums and lengths of the texts.
 */
export interface Deflated extends Checksum {
  readonly blocks: Buffer;
}

/** CRC-32 of a text, in a form in which the checksum of several texts can be computed. */
interface Checksum {
  readonly crc: number;
  /** Bytes before compression. */
  readonly size: number;
  /** x^(8·size) modulo the CRC polynomial: shifts a checksum past this text. */
  readonly shift: number;
}

/** Below this a text does not become shorter, and a stored block costs no time. */
const minDeflatedBytes = 160;
/**
 * Small windows and outputs: texts have some hundred bytes to some ten thousand, and zlib's own
 * sizes take twice the time for the same result.
 */
const options = {
  level: constants.Z_BEST_SPEED,
  memLevel: 5,
  windowBits: 13,
  chunkSize: 1_024,
  finishFlush: constants.Z_FULL_FLUSH,
};

/** Compresses one text. */
export function deflate(text: string): Deflated {
  const bytes = Buffer.from(text);
  const blocks = bytes.length < minDeflatedBytes ? store(bytes) : ownBytes([deflateRawSync(bytes, options)]);
  return { blocks, crc: crc32(bytes) | 0, size: bytes.length, shift: shiftFor(bytes.length) };
}

/** Wraps at most 64 kB as they are. */
function store(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  const blocks = Buffer.allocUnsafeSlow(5 + bytes.length);
  // The type of the block, its length, and the length with all bits turned.
  blocks.writeUInt8(0, 0);
  blocks.writeUInt16LE(bytes.length, 1);
  blocks.writeUInt16LE(bytes.length ^ 0xffff, 3);
  bytes.copy(blocks, 5);
  return blocks;
}

/** Copies contents into memory of their own: a part of a larger memory keeps all of that. */
function ownBytes(contents: readonly Buffer[]): Buffer {
  const own = Buffer.allocUnsafeSlow(contents.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const content of contents) end += content.copy(own, end);
  return own;
}

/**
 * Joins texts into one: their blocks in a row, their checksums combined. A single text is itself.
 */
export function joinDeflated(parts: readonly Deflated[]): Deflated {
  const [first, second] = parts;
  if (first && !second) return first;
  return { blocks: ownBytes(parts.map(({ blocks }) => blocks)), ...combineChecksums(parts) };
}

const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const lastEmptyBlock = Buffer.from([0x03, 0x00]);

/**
 * Returns the buffers that, one after the other, are one gzip member with these blocks, whose texts
 * have this checksum.
 */
export function gzipMember(blocks: readonly Buffer[], { crc, size }: Checksum): Buffer[] {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc >>> 0, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  return [header, ...blocks, lastEmptyBlock, trailer];
}

/** Computes the checksum of several texts in a row. */
function combineChecksums(parts: Iterable<Checksum>): Checksum {
  let crc = 0;
  let size = 0;
  for (const part of parts) {
    crc = multiply(part.shift, crc) ^ part.crc;
    size += part.size;
  }
  return { crc, size, shift: shiftFor(size) };
}

// CRC-32 arithmetic as in zlib's crc32_combine: polynomials over GF(2), bit-reversed, modulo the
// CRC polynomial.
const polynomial = 0xedb88320;
const one = 1 << 31; // the polynomial 1

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
