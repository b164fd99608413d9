import { joinPacked, type Packed } from './gzip.ts';
import type { Piece } from './piece.ts';

/**
 * Pieces that follow each other on a page. Their compressed bytes are joined, as every scrape wants them and thousands of
 * small blocks would be slow to send; their texts stay where they are, as most of the memory is theirs.
 */
export interface Joint {
  readonly pieces: readonly Piece[];
  readonly packed: Packed;
}

export function joinPieces(pieces: readonly Piece[]): Joint {
  return { pieces, packed: joinPacked(pieces.map(({ packed }) => packed)) };
}

export function joinJoints(joints: readonly Joint[]): Joint {
  return { pieces: joints.flatMap(({ pieces }) => pieces), packed: joinPacked(joints.map(({ packed }) => packed)) };
}
