import { constants, crc32, createDeflateRaw, type DeflateRaw, deflateRawSync } from 'node:zlib';

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

/** The rendered families as bytes that never change, for one scrape or for many. */
export interface Exposition {
  /** Returns the buffers of the whole exposition, with more text at its end. */
  finish(end: string): readonly Buffer[];
}

/** Rendered text: a range of bytes that never change. */
export interface TextRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Large chunks: each costs the event loop a turn. */
const deflateOptions = { level: constants.Z_BEST_SPEED, chunkSize: 262_144 };
/** Text is compressed in portions: a copy of all of it would be as long as the exposition. */
const portionBytes = 1_048_576;
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Joins text to an exposition. A thread of zlib compresses gzip; zstd is made while it is sent. */
export async function createExposition(ranges: readonly TextRange[], encoding: Encoding): Promise<Exposition> {
  if (encoding === 'gzip') return await createGzipExposition(ranges);
  const [text = Buffer.alloc(0)] = portionsOf(ranges, lengthOf(ranges));
  return { finish: (end) => [text, Buffer.from(end)] };
}

async function createGzipExposition(ranges: readonly TextRange[]): Promise<Exposition> {
  // The flush ends at a whole byte: the end is compressed on its own and follows in the same gzip
  // member. Some clients read only the first member.
  const deflating = createDeflateRaw({ ...deflateOptions, finishFlush: constants.Z_SYNC_FLUSH });
  const [blocks, checksum] = await Promise.all([
    deflating.toArray() as Promise<Buffer[]>,
    compressPortions(deflating, ranges),
  ]);
  const length = lengthOf(ranges);
  return {
    finish(end) {
      const last = Buffer.from(end);
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(crc32(last, checksum), 0);
      trailer.writeUInt32LE((length + last.length) % 2 ** 32, 4);
      return [gzipHeader, ...blocks, deflateRawSync(last, deflateOptions), trailer];
    },
  };
}

/** Writes all text to a stream, portion by portion; resolves to its checksum. */
async function compressPortions(deflating: DeflateRaw, ranges: readonly TextRange[]): Promise<number> {
  let checksum = 0;
  for (const portion of portionsOf(ranges, portionBytes)) {
    checksum = crc32(portion, checksum);
    await new Promise<void>((resolve) => void deflating.write(portion, () => resolve()));
  }
  deflating.end();
  return checksum;
}

function lengthOf(ranges: readonly TextRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Yields the text in portions, which share one memory: each is used before the next. */
function* portionsOf(ranges: readonly TextRange[], maxBytes: number): Generator<Buffer> {
  const portion = Buffer.allocUnsafeSlow(maxBytes);
  let filled = 0;
  for (const { bytes, start, end } of ranges)
    for (let at = start; at < end; ) {
      const copied = bytes.copy(portion, filled, at, end);
      at += copied;
      filled += copied;
      if (filled < maxBytes) continue;
      yield portion;
      filled = 0;
    }
  if (filled > 0) yield portion.subarray(0, filled);
}
