import { resolve } from 'node:path';

import type { Secret } from '../lib/secret.ts';
import { certificatesIn } from './certificates.ts';
import { type ReadText, withFolder } from './file-text.ts';
import { privateKeyIn } from './private-key.ts';
import type { Outcome, Path, Problems } from './problems.ts';
import { apiKey } from './readers.ts';
import type { Source } from './yaml-file.ts';

/** A kind of file: how long it may be, and what is made of its text. */
export interface Kind<T> {
  readonly purpose: 'key' | 'certificates';
  readonly read: (text: string) => Outcome<T>;
}

export const apiKeyFile: Kind<Secret> = { purpose: 'key', read: (text) => apiKey(text.replace(/[\r\n]+$/, '')) };
export const certificatesFile: Kind<string> = { purpose: 'certificates', read: certificatesIn };
export const privateKeyFile: Kind<Secret> = { purpose: 'key', read: privateKeyIn };

/** Reads the file that the value at a path names, if there is one. */
export type OpenFile = <T>(name: string | undefined, at: Path, kind: Kind<T>) => Promise<T | undefined>;

/** An {@link OpenFile} that reports what is wrong with a file, and then resolves to undefined. */
export function createOpenFile(source: Source, readText: ReadText, problems: Problems): OpenFile {
  return async (name, at, { purpose, read }) => {
    if (name === undefined) return undefined;
    const folder = source.folderOf(at);
    const text = await readText(resolve(folder, name), purpose);
    const outcome =
      'value' in text ? read(text.value) : { problem: `${withFolder(text.problem, name, folder)}. ${pathHint}` };
    if ('value' in outcome) return outcome.value;
    problems.report(source.place(at), outcome.problem);
    return undefined;
  };
}

const pathHint = 'Give the path of a file the exporter may read, best an absolute one';
