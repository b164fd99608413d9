import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '../../lib/regular-file.ts';
import { missing } from './chain.ts';
import { writeFully } from './disk.ts';
import { genesis } from './line.ts';
import type { AuditLine, AuditPosition } from './record.ts';

/**
 * The number and the hash of the last line, kept apart from the lines: without it nobody could tell
 * that the last ones are missing.
 */
export interface KeptHead {
  /** The head when it was opened. */
  readonly found: FoundHead;
  /** One write in place, always of the same length. */
  write(position: AuditPosition): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** `none` if no line was ever written; `damaged` if the file contains something else. */
export type FoundHead = AuditPosition | 'none' | 'damaged';

/** Returns the path of the head, next to the audit. */
export function headPath(file: string): string {
  return `${file}.head`;
}

export async function openHead(file: string): Promise<KeptHead> {
  const handle = await openRegularFile(headPath(file), constants.O_RDWR | constants.O_CREAT);
  return {
    found: await read(handle),
    async write({ seq, hash }) {
      await writeFully(handle, Buffer.from(`${String(seq).padStart(16, '0')} ${hash}\n`), 0);
    },
    async sync() {
      await handle.datasync();
    },
    async close() {
      await handle.close();
    },
  };
}

/** Opens the head. Rejects if the file cannot be opened, also with `ENOENT`. */
export async function readHead(file: string): Promise<FoundHead> {
  const handle = await openRegularFile(headPath(file));
  try {
    return await read(handle);
  } finally {
    await handle.close();
  }
}

async function read(handle: FileHandle): Promise<FoundHead> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(128), 0, 128, 0);
  // On a full disk the file may have been created but not written.
  if (bytesRead === 0) return 'none';
  const [, seq, hash] = /^(\d{16}) ([0-9a-f]{64})\n$/.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
  return seq === undefined || hash === undefined ? 'damaged' : { seq: Number(seq), hash };
}

/** Compares the head that is kept apart with the lines as they pass. */
export interface HeadCheck {
  readonly pass: (line: AuditLine) => void;
  /**
   * What is wrong with the head when the lines end with that number, as the rest of a sentence that
   * begins with its file.
   */
  faultAt(lastSeq: number): string | undefined;
}

/** `start` is the line before the first one to compare. */
export function createHeadCheck(head: FoundHead, start: AuditPosition): HeadCheck {
  const kept = head === 'none' || head === 'damaged' ? genesis : head;
  let hash = start.seq === kept.seq ? start.hash : undefined;
  return {
    pass(line) {
      if (line.seq === kept.seq) hash = line.hash;
      // The line of the head may be in a file that was removed.
      if (line.seq === kept.seq + 1) hash ??= line.prev;
    },
    faultAt(lastSeq) {
      if (head === 'damaged') return 'is damaged: lines may be missing at the end';
      // The head lags behind after a crash, since it is written last.
      if (head === 'none') return lastSeq === 0 ? undefined : 'is missing: lines may be missing at the end';
      if (kept.seq > lastSeq) return `knows of line number ${kept.seq}: ${missing(lastSeq + 1, kept.seq)} at the end`;
      return hash === kept.hash ? undefined : `knows of another line number ${kept.seq} than the one that is there`;
    },
  };
}
