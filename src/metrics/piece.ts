import type { Family } from './family.ts';
import { type Checksum, type Finish, pack, type Packed } from './gzip.ts';
import { ownBytes } from './own-bytes.ts';
import { holds, moveTogether, type Place, placeOf } from './place.ts';
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
export function toChunks(families: readonly FamilySamples[], before: readonly Chunk[], finish: Finish): Chunk[] {
  const chunks = families.map(({ family, series, text }) => {
    const bytes = Buffer.from(text);
    const known = before.find((chunk) => chunk.family === family);
    return known && holds(known.text, bytes) ? known : toChunk(family, series, bytes, finish);
  });
  moveOut(chunks, before);
  return chunks;
}

function toChunk(family: Family, series: number, bytes: Buffer, finish: Finish): Chunk {
  const { blocks, ...checksum } = finish(bytes);
  return { family, series, text: placeOf(bytes), blocks: placeOf(blocks), checksum };
}

/**
 * Moves what is new into one memory: there are tens of thousands of chunks, and a memory for each would be work for the garbage collector.
 * What lies beside something that is gone moves along, or it would keep that.
 */
function moveOut(chunks: readonly Chunk[], before: readonly Chunk[]): void {
  const gone = before.filter((chunk) => !chunks.includes(chunk));
  const left = new Set(placesOf(gone).map(({ memory }) => memory));
  const come = new Set(placesOf(chunks.filter((chunk) => !before.includes(chunk))));
  const moving = placesOf(chunks).filter((place) => come.has(place) || left.has(place.memory));
  if (moving.length > 0) moveTogether(moving);
}

function placesOf(chunks: readonly Chunk[]): Place[] {
  return chunks.flatMap(({ text, blocks }) => [text, blocks]);
}

/** Finishes a text. */
export function toPiece(text: string): Piece {
  const bytes = Buffer.from(text);
  const packed = pack(bytes);
  return { text: ownBytes([bytes]), packed: { ...packed, blocks: ownBytes([packed.blocks]) } };
}
