import { type Checksum, combineChecksums, type Deflated, deflate, gzipMember } from './gzip.ts';

/** Prometheus text 0.0.4, or OpenMetrics 1.0. Only the headers of counters and the last line differ. */
export const formats = ['text', 'openmetrics'] as const;
export type Format = (typeof formats)[number];

export type Encoding = 'identity' | 'gzip' | 'zstd';

/** The form in which a client asks for a page. */
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

/** Adds text at the end of a page; for gzip also what makes one member of all. Returns the buffers in their order. */
export function finishPage({ bytes, checksum }: Page, encoding: Encoding, end: string): readonly Buffer[] {
  if (encoding !== 'gzip') return [bytes, Buffer.from(end)];
  const last = deflate(end);
  return gzipMember([bytes, last.blocks], combineChecksums([checksum, last]));
}
