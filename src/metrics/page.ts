import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';

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

const compress = promisify(deflateRaw);
/** Few large outputs: each of them costs the event loop a turn. */
const options = { level: constants.Z_BEST_SPEED, chunkSize: 262_144 };
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Makes a page of text, for gzip compressed in a thread of zlib. zstd is made while it is sent. */
export async function createPage(text: Buffer, encoding: Encoding): Promise<Page> {
  if (encoding !== 'gzip') return { finish: (end) => [text, Buffer.from(end)] };
  // The flush ends at a whole byte: the end is compressed on its own and follows in the same gzip
  // member. Some clients read only the first member.
  const blocks = await compress(text, { ...options, finishFlush: constants.Z_SYNC_FLUSH });
  const checksum = crc32(text);
  // The text itself is not kept.
  const { length } = text;
  return {
    finish(end) {
      const last = Buffer.from(end);
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(crc32(last, checksum), 0);
      trailer.writeUInt32LE((length + last.length) % 2 ** 32, 4);
      return [gzipHeader, blocks, deflateRawSync(last, options), trailer];
    },
  };
}
