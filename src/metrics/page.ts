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

/** Finished bytes in the order of the families, for one scrape or for many. They never change. */
export interface Page {
  /** Adds text at the end of the exposition. Returns the buffers in their order. */
  finish(end: string): readonly Buffer[];
}

/** Finished text: a part of bytes that never change. */
export interface TextPart {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Few large outputs: each of them costs the event loop a turn. */
const options = { level: constants.Z_BEST_SPEED, chunkSize: 262_144 };
/** The text that is compressed at a time: a copy of all of it would be as long as the page. */
const portionBytes = 1_048_576;
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Makes a page of text, for gzip compressed in a thread of zlib. zstd is made while it is sent. */
export async function createPage(parts: readonly TextPart[], encoding: Encoding): Promise<Page> {
  if (encoding === 'gzip') return await createGzipPage(parts);
  const [text = Buffer.alloc(0)] = portionsOf(parts, lengthOf(parts));
  return { finish: (end) => [text, Buffer.from(end)] };
}

async function createGzipPage(parts: readonly TextPart[]): Promise<Page> {
  // The flush ends at a whole byte: the end is compressed on its own and follows in the same gzip
  // member. Some clients read only the first member.
  const deflating = createDeflateRaw({ ...options, finishFlush: constants.Z_SYNC_FLUSH });
  const [blocks, checksum] = await Promise.all([deflating.toArray() as Promise<Buffer[]>, feed(deflating, parts)]);
  const length = lengthOf(parts);
  return {
    finish(end) {
      const last = Buffer.from(end);
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(crc32(last, checksum), 0);
      trailer.writeUInt32LE((length + last.length) % 2 ** 32, 4);
      return [gzipHeader, ...blocks, deflateRawSync(last, options), trailer];
    },
  };
}

/** Writes all text to a stream, portion by portion; resolves to its checksum. */
async function feed(deflating: DeflateRaw, parts: readonly TextPart[]): Promise<number> {
  let checksum = 0;
  for (const portion of portionsOf(parts, portionBytes)) {
    checksum = crc32(portion, checksum);
    await new Promise<void>((resolve) => void deflating.write(portion, () => resolve()));
  }
  deflating.end();
  return checksum;
}

function lengthOf(parts: readonly TextPart[]): number {
  return parts.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Yields the text in portions, which share one memory: each is used before the next. */
function* portionsOf(parts: readonly TextPart[], maxBytes: number): Generator<Buffer> {
  const portion = Buffer.allocUnsafeSlow(maxBytes);
  let filled = 0;
  for (const { bytes, start, end } of parts)
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
