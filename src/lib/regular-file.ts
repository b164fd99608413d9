import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errorCode } from './check.ts';

/**
 * Says that a path leads to a folder, a named pipe, a socket or a device. The message names the
 * path.
 */
export class FileKindError extends Error {
  override readonly name = 'FileKindError';
}

/**
 * Opens a regular file, also behind a symbolic link, for reading unless `flags` say otherwise.
 * Never waits for the other end of a named pipe. Rejects with a {@link FileKindError} for anything
 * else than a file.
 */
export async function openRegularFile(path: string, flags = constants.O_RDONLY): Promise<FileHandle> {
  // Looks before it opens: opening a device can have effects of its own.
  const status = await stat(path).catch(ifMissing);
  if (status && !status.isFile()) throw new FileKindError(`${path} is a ${kindOf(status)}, not a regular file`);
  // A named pipe that appears in between does not block either.
  return await open(path, flags | constants.O_NONBLOCK, 0o600);
}

/** Names what a path leads to when it is no regular file, for a sentence. */
export function kindOf(status: Stats): string {
  if (status.isDirectory()) return 'folder';
  if (status.isFIFO()) return 'named pipe';
  return status.isSocket() ? 'socket' : 'device';
}

function ifMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
