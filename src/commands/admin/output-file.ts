import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode, toError } from '../../lib/check.ts';
import { UsageError } from '../command.ts';
import { AdminError } from './admin-error.ts';

/** A file that is there before anything is asked for, so that no answer is lost for want of a place. */
export interface OutputFile {
  /** Resolves to the number of bytes; rejects with an {@link AdminError}. */
  save(body: Readable): Promise<number>;
  /** Takes the file away again. */
  discard(): Promise<void>;
}

/** Refuses to overwrite. For its owner alone: downloads hold keys and passwords. */
export async function createOutputFile(path: string): Promise<OutputFile> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx', 0o600);
  } catch (error) {
    throw new UsageError(
      errorCode(error) === 'EEXIST'
        ? '--output: the file exists already, and is not overwritten; choose another name'
        : `--output: the file cannot be made (${errorCode(error)})`,
    );
  }
  return {
    async save(body) {
      try {
        // Not by its name, which may be another's file by now; and on the disk before it is called saved.
        const target = file.createWriteStream({ flush: true });
        await pipeline(body, target);
        return target.bytesWritten;
      } catch (error) {
        throw new AdminError('The answer could not be saved', {
          detail: `${toError(error).message}. What had come of it is removed.`,
          remedy: 'Make room, or repeat it when the connection is back.',
        });
      }
    },
    async discard() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}
