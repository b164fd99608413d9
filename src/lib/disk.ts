import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { errorCode } from './check.ts';

/**
 * Makes a folder and those above it that are missing, for its own user alone; rejects with the
 * error of the file system.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (errorCode(error) !== 'ENOENT' || above === path) throw error;
    // With `recursive`, Node loops for ever below /proc, where existing folders answer ENOENT.
    await makeFolder(above);
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Says that a path leads to a folder, a named pipe, a socket, a device or a file of something else.
 * The message names the path.
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

/**
 * Reads a regular file of at most `maxBytes`. Does not rely on its size, which is 0 for files of
 * /proc that never end.
 */
export async function readShort(path: string, maxBytes: number): Promise<string> {
  const handle = await openRegularFile(path);
  try {
    // `end` is inclusive, so this reads one byte past the limit.
    const bytes = await buffer(handle.createReadStream({ end: maxBytes, autoClose: false }));
    if (bytes.length > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes`);
    return bytes.toString();
  } finally {
    await handle.close();
  }
}

/** Names what a path leads to when it is not a regular file, for a sentence. */
export function kindOf(status: Stats): string {
  if (status.isDirectory()) return 'folder';
  if (status.isFIFO()) return 'named pipe';
  return status.isSocket() ? 'socket' : 'device';
}

/** Returns undefined for a missing file; for `catch`, so that other errors are thrown again. */
export function ifMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
