import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../lib/check.ts';
import { ifMissing, isThere } from '../../lib/disk.ts';
import { UsageError } from '../command.ts';

/** Returns the folder for keys: `keys` beside the configuration where an installation has it. */
export async function keyFolder(folder: string): Promise<string> {
  const keys = join(folder, 'keys');
  return (await stat(keys).catch(ifMissing))?.isDirectory() ? keys : folder;
}

/**
 * Returns true for the folder that deploy/systemd/install.sh makes: its keys belong to root, and
 * systemd hands them to a service whose user exists only while it runs.
 */
export async function isLoadedBySystemd(folder: string): Promise<boolean> {
  const keys = await stat(join(folder, 'keys')).catch(ifMissing);
  return keys?.uid === 0 && (await isThere(join(folder, 'environment')));
}

/** Throws a UsageError if this process may not write into the folder of a file. */
export async function assertWritable(file: string): Promise<void> {
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    throw cannotWrite(file, error);
  });
}

/**
 * Writes a file that must not exist; a failure leaves none behind. It belongs to the owner of its
 * folder, as far as the user of this process may give it away: root writes it, and the exporter
 * reads it.
 */
export async function writeNewFile(
  file: string,
  text: string,
  mode: number,
  sameOwnerAs = dirname(file),
): Promise<void> {
  try {
    const { uid, gid } = await stat(sameOwnerAs);
    const handle = await open(file, 'wx', mode);
    try {
      await handle.chmod(mode);
      await handle.chown(uid, gid).catch(ifNotPermitted);
      await handle.writeFile(text);
      await handle.sync();
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

/** Replaces a file, or the one that a link leads to, at once; it keeps its mode and its owner. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const file = await realpath(path);
  const { mode } = await stat(file);
  // A name of its own: a run that was killed leaves its file behind.
  const beside = `${file}.${randomUUID()}.new`;
  await writeNewFile(beside, text, mode & 0o777, file);
  try {
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw cannotWrite(file, error);
  }
}

function ifNotPermitted(error: unknown): void {
  if (errorCode(error) !== 'EPERM') throw error;
}

function cannotWrite(file: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === '') return error;
  const remedy =
    code === 'ENOSPC' ? 'make room on its disk' : 'use sudo, or give --config.file a path that you may write to';
  return new UsageError(`${file} cannot be written: ${code}; ${remedy}`);
}
