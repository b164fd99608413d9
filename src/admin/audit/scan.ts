import type { FileHandle } from 'node:fs/promises';
import { maxLineBytes } from './line.ts';

const blockBytes = 262_144;
const newline = 0x0a;

/** The bytes after the last newline of a file. */
export interface Tail {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Gives each line of a file to `visit`, without its newline. Reads in blocks; of a line that is too
 * long to be one, only so much comes that this shows. The bytes are good until `visit` returns.
 */
export async function scanLines(handle: FileHandle, visit: (bytes: Buffer) => void): Promise<Tail> {
  const buffer = Buffer.allocUnsafe(blockBytes);
  let begun = Buffer.alloc(0);
  let lineOffset = 0;
  let position = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, blockBytes, position);
    if (bytesRead === 0) return { offset: lineOffset, bytes: position - lineOffset };
    const block = buffer.subarray(0, bytesRead);
    let from = 0;
    for (let to = block.indexOf(newline); to !== -1; to = block.indexOf(newline, from)) {
      const rest = block.subarray(from, to);
      visit(begun.length === 0 ? rest : Buffer.concat([begun, rest]));
      begun = Buffer.alloc(0);
      from = to + 1;
      lineOffset = position + from;
    }
    if (begun.length <= maxLineBytes) begun = Buffer.concat([begun, block.subarray(from)]);
    position += bytesRead;
  }
}

/**
 * The lines before `end`, the last one first, without their newlines; what follows the last newline
 * comes first of all.
 */
export async function* linesFromEnd(handle: FileHandle, end: number): AsyncGenerator<Buffer> {
  let position = end;
  let rest = Buffer.alloc(0);
  while (position > 0) {
    const from = Math.max(0, position - blockBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(position - from), 0, position - from, from);
    const block = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
    let to = block.length;
    for (let at = block.lastIndexOf(newline); at !== -1; at = to === 0 ? -1 : block.lastIndexOf(newline, to - 1)) {
      yield block.subarray(at + 1, to);
      to = at;
    }
    // Longer than any line: its beginning alone does not parse as one.
    rest = to > maxLineBytes ? Buffer.alloc(0) : block.subarray(0, to);
    position = from;
  }
  yield rest;
}
