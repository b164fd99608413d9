import type { Family } from './family.ts';
import { pack, type Packed } from './gzip.ts';
import { ownBytes } from './own-bytes.ts';
import type { FamilySamples } from './samples.ts';

/** Finished bytes of a part of a page, plain and compressed. */
export interface Piece {
  readonly text: Buffer;
  readonly packed: Packed;
}

/** Finished lines of one family from one part of one appliance. The bytes may move, but never change: see joint.ts. */
export interface Chunk {
  readonly family: Family;
  readonly series: number;
  text: Buffer;
  packed: Packed;
}

/**
 * Turns rendered samples into bytes once, when a reading is taken, so that a scrape only joins. A family that says what it
 * said `before` keeps its chunk: nothing is compressed for it, and nothing that was joined is joined again.
 */
export function toChunks(families: readonly FamilySamples[], before: readonly Chunk[] = []): Chunk[] {
  return families.map(({ family, series, text }) => {
    const bytes = Buffer.from(text);
    const known = before.find((chunk) => chunk.family === family);
    return known?.text.equals(bytes) ? known : { family, series, ...finish(bytes) };
  });
}

/** Finishes a text. */
export function toPiece(text: string): Piece {
  return finish(Buffer.from(text));
}

/** In one piece of memory: there are tens of thousands of these. */
function finish(text: Buffer): Piece {
  const packed = pack(text);
  const bytes = ownBytes([text, packed.blocks]);
  return { text: bytes.subarray(0, text.length), packed: { ...packed, blocks: bytes.subarray(text.length) } };
}
