import type { Family } from './family.ts';
import { type Checksum, pack, type Packed } from './gzip.ts';
import { ownBytes } from './own-bytes.ts';
import { holds, type Place } from './place.ts';
import type { FamilySamples } from './samples.ts';

/** Finished bytes of a part of a page, plain and compressed. */
export interface Piece {
  readonly text: Buffer;
  readonly packed: Packed;
}

/** Finished lines of one family from one part of one appliance. */
export interface Chunk {
  readonly family: Family;
  readonly series: number;
  readonly text: Place;
  /** The same, compressed: see gzip.ts. */
  readonly blocks: Place;
  readonly checksum: Checksum;
}

/**
 * Turns rendered samples into bytes once, when a reading is taken, so that a scrape only joins. A family that says what it
 * said `before` keeps its chunk: nothing is compressed for it, and nothing that was joined is joined again.
 */
export function toChunks(families: readonly FamilySamples[], before: readonly Chunk[] = []): Chunk[] {
  return families.map(({ family, series, text }) => {
    const bytes = Buffer.from(text);
    const known = before.find((chunk) => chunk.family === family);
    return known && holds(known.text, bytes) ? known : toChunk(family, series, bytes);
  });
}

/** In one piece of memory: there are tens of thousands of these. */
function toChunk(family: Family, series: number, bytes: Buffer): Chunk {
  const { blocks, ...checksum } = pack(bytes);
  const memory = ownBytes([bytes, blocks]);
  return {
    family,
    series,
    text: { memory, start: 0, length: bytes.length },
    blocks: { memory, start: bytes.length, length: blocks.length },
    checksum,
  };
}

/** Finishes a text. */
export function toPiece(text: string): Piece {
  const bytes = Buffer.from(text);
  const packed = pack(bytes);
  return { text: ownBytes([bytes]), packed: { ...packed, blocks: ownBytes([packed.blocks]) } };
}
