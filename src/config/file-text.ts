import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { errorCode } from '../lib/check.ts';
import { kindOf } from '../lib/regular-file.ts';
import type { Parsed } from './problems.ts';

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

/** Maximum size of a file by its purpose. */
const limits = {
  key: { bytes: 65_536, text: '64 KiB' },
  certificates: { bytes: 1_048_576, text: '1 MiB' },
  configuration: { bytes: 1_048_576, text: '1 MiB' },
} as const;

/** Reads a file; a problem says what is wrong with it, without its path. */
export type ReadText = (path: string, purpose: keyof typeof limits) => Promise<Parsed<string>>;

/**
 * Reads a regular file, also behind a symbolic link. Does not open pipes and devices, which may
 * never end. A problem does not quote the path: it may be a key instead of the name of its file.
 */
export async function readFileText(path: string, purpose: keyof typeof limits): Promise<Parsed<string>> {
  try {
    const status = await stat(path);
    if (!status.isFile()) return { problem: `cannot be read: it is a ${kindOf(status)}, not a file` };
    const limit = limits[purpose];
    // `end` is inclusive, so this reads one byte past the limit. The size is unusable: 0 for files
    // of /proc.
    const bytes = await buffer(createReadStream(path, { end: limit.bytes }));
    if (bytes.length > limit.bytes) return { problem: `cannot be read: it is larger than ${limit.text}` };
    if (bytes.includes(0)) return { problem: 'cannot be read: it is a binary file, not text' };
    return { value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { problem: `cannot be read: ${causeOf(error)}` };
  }
}

/**
 * Adds to a problem where the relative name of a file was looked for, if there is no such file.
 * Does not repeat the name: it may be a key.
 */
export function withFolder(problem: string, name: string, folder = ''): string {
  const isMissing = problem.endsWith(noSuchFile) && !isAbsolute(name);
  return isMissing ? `${problem}; a relative path starts at ${resolve(folder)}` : problem;
}

/** Returns a short reason why a file or a folder cannot be read. */
export function causeOf(error: unknown): string {
  return reasons[errorCode(error)] ?? errorCode(error);
}
