import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { errorCode } from '../lib/check.ts';
import { kindOf } from '../lib/regular-file.ts';
import type { Outcome } from './problems.ts';

const noSuchFile = 'there is no such file';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: noSuchFile,
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'the user that runs the exporter has no permission to read it',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
  ERR_INVALID_ARG_VALUE: 'its path holds a null character',
  EPERM: 'the user that runs the exporter has no permission to read it',
  EMFILE: 'the process has as many files open as it may; raise its limit (LimitNOFILE, ulimit -n)',
};

/** Bytes that a file may have, by what it is for; what is longer is something else. */
const limits = {
  key: { bytes: 65_536, text: '64 KiB' },
  certificates: { bytes: 1_048_576, text: '1 MiB' },
  configuration: { bytes: 1_048_576, text: '1 MiB' },
} as const;

/** Reads a file for a purpose; a problem says what is wrong with it, without its path. */
export type ReadText = (path: string, purpose: keyof typeof limits) => Promise<Outcome<string>>;

/**
 * The text of a regular file, also behind a symbolic link; what may never open or never end is refused unopened.
 * A refusal does not repeat the path: it might be a key that was put where its file belongs.
 */
export async function readFileText(path: string, purpose: keyof typeof limits): Promise<Outcome<string>> {
  try {
    const status = await stat(path);
    if (!status.isFile()) return { problem: `cannot be read: it is a ${kindOf(status)}, not a file` };
    const limit = limits[purpose];
    // The end counts too, so that this reads one byte past the limit. Files of /proc say that they have 0 bytes.
    const bytes = await buffer(createReadStream(path, { end: limit.bytes }));
    if (bytes.length > limit.bytes) return { problem: `cannot be read: it is larger than ${limit.text}` };
    if (bytes.includes(0)) return { problem: 'cannot be read: it is a binary file, not text' };
    return { value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { problem: `cannot be read: ${causeOf(error)}` };
  }
}

/**
 * Adds to a problem where the relative name of a file was looked for, if there is no such file. Does not repeat the
 * name: it may be a key.
 */
export function withFolder(problem: string, name: string, folder = ''): string {
  const isMissing = problem.endsWith(noSuchFile) && !isAbsolute(name);
  return isMissing ? `${problem}; a relative path starts at ${resolve(folder)}` : problem;
}

/** Why a file or a folder cannot be read, in a few words. */
export function causeOf(error: unknown): string {
  return reasons[errorCode(error)] ?? errorCode(error);
}
