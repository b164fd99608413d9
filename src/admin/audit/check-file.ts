import type { FileHandle } from 'node:fs/promises';
import { type Chain, notALine } from './chain.ts';
import { maxLineBytes } from './line.ts';
import type { AuditLine } from './record.ts';
import { scanLines } from './scan.ts';

/** Something wrong with one line of a file. */
export interface LineFault {
  /** From 1. */
  readonly line: number;
  /** The rest of a sentence that begins with the line. */
  readonly what: string;
}

export interface FileCheck {
  readonly faults: readonly LineFault[];
  /** A last line without its newline, as a killed process or a loss of power leaves it; not among the faults. */
  readonly torn?: TornLine;
  /** Bytes up to the end of the last finished line. */
  readonly length: number;
}

export interface TornLine {
  readonly line: number;
  readonly bytes: number;
}

/** Reads a file as the next part of a chain, from its beginning to its end. */
export async function checkFile(
  handle: FileHandle,
  chain: Chain,
  onLine: (line: AuditLine) => void,
): Promise<FileCheck> {
  const faults: LineFault[] = [];
  let count = 0;
  const { offset, bytes } = await scanLines(handle, (text) => {
    count += 1;
    const { line, fault } = chain.take(text);
    if (fault !== undefined) faults.push({ line: count, what: fault });
    if (line) onLine(line);
  });
  // No line that could have been written is as long.
  if (bytes > maxLineBytes) faults.push({ line: count + 1, what: notALine });
  else if (bytes > 0) return { faults, torn: { line: count + 1, bytes }, length: offset };
  return { faults, length: offset };
}
