import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode, toError } from '../../lib/check.ts';
import { UsageError } from '../command.ts';
import { AdminError } from './admin-error.ts';

/** A file that exists before the request is sent, so that no answer is lost because it cannot be saved. */
export interface OutputFile {
  /** Resolves to the number of bytes; rejects with an {@link AdminError}. */
  save(body: Readable): Promise<number>;
  /** Removes the file. */
  discard(): Promise<void>;
}

/** Creates a file with mode 0600, because downloads hold keys and passwords; rejects when it exists. */
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
        // Writes through the descriptor: another file may have the name by now. Flushes before it reports success.
        const target = file.createWriteStream({ flush: true });
        await pipeline(body, target);
        return target.bytesWritten;
      } catch (error) {
        throw new AdminError('The answer could not be saved', {
          detail: `${toError(error).message}. The incomplete file is removed.`,
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
