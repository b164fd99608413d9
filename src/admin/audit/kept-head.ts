import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '../../lib/regular-file.ts';
import type { AuditPosition } from './record.ts';
import { writeFully } from './write-fully.ts';

/** The number and the hash of the last line, kept apart from the lines: without it nobody could tell that the last ones are missing. */
export interface KeptHead {
  /** As it was when it was opened. */
  readonly found: FoundHead;
  /** One write in place, always of the same length. */
  write(position: AuditPosition): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** `none` where no line was ever written; `damaged` where something else than a head stands. */
export type FoundHead = AuditPosition | 'none' | 'damaged';

/** Beside the audit. */
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

/** Rejects where the file cannot be opened, `ENOENT` included. */
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
  // A full disk may have let the file be made, and nothing be written to it.
  if (bytesRead === 0) return 'none';
  const [, seq, hash] = /^(\d{16}) ([0-9a-f]{64})\n$/.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
  return seq === undefined || hash === undefined ? 'damaged' : { seq: Number(seq), hash };
}
