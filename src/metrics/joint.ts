import { combineChecksums, joinPacked, type Packed } from './gzip.ts';
import { ownBytes } from './own-bytes.ts';
import type { Chunk } from './piece.ts';
import { bytesAt, moveTogether } from './place.ts';

/** Finished bytes that follow each other on a page. */
export interface Joint {
  /** The plain text, in order. Most scrapes are for the compressed bytes alone: it is joined when it is first asked for. */
  texts(): readonly Buffer[];
  /** A function, as a getter would cost each of thousands of joints a table of its own. */
  packed(): Packed;
}

/** Joins what an appliance has of one family. The chunks move into the joint, so that no byte is kept twice; one alone stays where it is. */
export function joinChunks(chunks: readonly Chunk[]): Joint {
  const [first, second] = chunks;
  return first && !second ? jointOf(first) : jointOfAll(chunks);
}

/** Looks where the chunk is each time: a view that is kept keeps the memory that it has moved out of. */
function jointOf({ text, blocks, checksum }: Chunk): Joint {
  return {
    texts: () => [bytesAt(text)],
    packed: () => ({ blocks: bytesAt(blocks), ...checksum }),
  };
}

function jointOfAll(chunks: readonly Chunk[]): Joint {
  let texts: readonly Buffer[] | undefined;
  const packed = {
    blocks: moveTogether(chunks.map(({ blocks }) => blocks)),
    ...combineChecksums(chunks.map(({ checksum }) => checksum)),
  };
  return {
    texts: () => (texts ??= [moveTogether(chunks.map(({ text }) => text))]),
    packed: () => packed,
  };
}

/**
 * Joins what appliances have of one family: the compressed bytes, which are a fifth of the text and sent at nearly every scrape, and
 * the texts of a line or two, of which there are thousands. The other texts stay where they are: to join a hundred megabytes of
 * them anew would be work for the garbage collector alone.
 */
export function joinJoints(joints: readonly Joint[]): Joint {
  let texts: readonly Buffer[] | undefined;
  const packed = joinPacked(joints.map((joint) => joint.packed()));
  return {
    texts: () => (texts ??= joinShort(joints.flatMap((joint) => joint.texts()))),
    packed: () => packed,
  };
}

/** To find and send a text costs more than to copy so many bytes. */
const shortBytes = 512;

/** Short texts that follow each other are joined. */
function joinShort(texts: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let run: Buffer[] = [];
  const endRun = (): void => {
    const [first, second] = run;
    if (first) joined.push(second ? ownBytes(run) : first);
    run = [];
  };
  for (const text of texts) {
    if (text.length <= shortBytes) run.push(text);
    else {
      endRun();
      joined.push(text);
    }
  }
  endRun();
  return joined;
}
