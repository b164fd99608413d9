import { constants } from 'node:fs';
import { openRegularFile } from './disk.ts';

/** Marks whose database a file is, and in which version of its format; SQLite's own default is 0. */
export interface DatabaseFormat {
  readonly applicationId: number;
  readonly version: number;
}

/**
 * Opens a file, for writing unless `flags` say otherwise, and reads its format from SQLite's header,
 * without a lock: another process may have it. A new database has zeros there until its log is
 * written back. Rejects with the error of the file system.
 */
export async function readFormat(file: string, flags = constants.O_RDWR): Promise<DatabaseFormat | 'empty' | 'other'> {
  const handle = await openRegularFile(file, flags);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(72), 0, 72, 0);
    if (bytesRead === 0) return 'empty';
    if (!buffer.toString('latin1', 0, bytesRead).startsWith('SQLite format 3')) return 'other';
    return { applicationId: buffer.readUInt32BE(68), version: buffer.readUInt32BE(60) };
  } finally {
    await handle.close();
  }
}
