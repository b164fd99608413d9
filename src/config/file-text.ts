import { readFile } from 'node:fs/promises';

import { errorCode } from '../lib/check.ts';
import type { Outcome } from './problems.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'the user that runs the exporter has no permission to read it',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
  ERR_INVALID_ARG_VALUE: 'its path holds a null character',
  EPERM: 'the user that runs the exporter has no permission to read it',
};

/** The text of a file. A refusal does not repeat the path: it might be a key that was put where its file belongs. */
export async function readFileText(path: string): Promise<Outcome<string>> {
  try {
    const bytes = await readFile(path);
    if (bytes.includes(0)) return { problem: 'cannot be read: it is a binary file, not text' };
    return { value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { problem: `cannot be read: ${reasons[errorCode(error)] ?? errorCode(error)}` };
  }
}
