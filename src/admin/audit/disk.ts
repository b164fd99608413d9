import { access, type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../lib/check.ts';

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

/** Syncs the folder of a file, so that its names survive a loss of power. */
export async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Writes all bytes at a place of a file; a full disk may take the first few of them before it
 * refuses.
 */
export async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
