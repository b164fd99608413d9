import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../lib/check.ts';

/** Makes a folder and those above it that are missing, for its own user alone; rejects with the error of the file system. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (errorCode(error) !== 'ENOENT' || above === path) throw error;
    // With `recursive`, Node tries for ever below /proc, where a folder that is there says that it is not.
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
