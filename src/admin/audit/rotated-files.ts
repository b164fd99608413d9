import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../lib/check.ts';
import type { AuditPosition } from './record.ts';

/** A full file that was rotated. */
export interface RotatedFile {
  readonly path: string;
  /** The number of its last line, which is its name. */
  readonly lastSeq: number;
}

/** Returns the name of a rotated file. */
export function rotatedPath(file: string, lastSeq: number): string {
  return `${file}.${String(lastSeq).padStart(16, '0')}`;
}

/**
 * The number of the last line that the name of a file tells which was put aside; undefined for any
 * other name.
 */
export function seqInName(path: string): number | undefined {
  const [, seq] = /\.(\d{16})$/.exec(path) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

/**
 * The name of the file before, for the first line of a file: without it nobody could tell that
 * lines are missing at its beginning.
 */
export function fileBefore(file: string, last: AuditPosition, length: number): string | undefined {
  return length === 0 && last.seq > 0 ? basename(rotatedPath(file, last.seq)) : undefined;
}

/** Lists the rotated files, the oldest first. */
export async function rotatedFiles(file: string): Promise<readonly RotatedFile[]> {
  const folder = dirname(file);
  const prefix = `${basename(file)}.`;
  return (await namesIn(folder))
    .filter((name) => name.startsWith(prefix) && /^\d{16}$/.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(folder, name), lastSeq: Number(name.slice(prefix.length)) }))
    .sort((a, b) => a.lastSeq - b.lastSeq);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
