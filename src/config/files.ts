import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { errorCode } from '../lib/check.ts';
import { globMatcher } from '../lib/glob.ts';
import { isSame } from '../lib/same.ts';
import { causeOf, type ReadText, readFileText } from './file-text.ts';
import type { Outcome } from './problems.ts';

/** The files that a configuration is made of, with what they were when they were read. */
export interface Files {
  readonly readText: ReadText;
  /**
   * The paths that fit a pattern whose last part may hold `*`, in order; a pattern without one fits itself. A problem says why
   * nobody knows: what cannot be looked at is not empty.
   */
  readonly list: ListFiles;
  /** Of the main file; undefined before it was read, and where there is none. */
  readonly mainText: string | undefined;
  /** Whether any of them, but for the main file, is another by now, or is there or gone. */
  haveChanged(): Promise<boolean>;
}

export type ListFiles = (pattern: string) => Promise<Outcome<readonly string[]>>;

/**
 * Reads files anew each time. `kept` is the text of the main file as it is in force: what the configuration points to is
 * followed by itself, but the main file, which people edit in steps, is taken in only when somebody says so.
 */
export function createFiles(main: { readonly path: string | undefined; readonly kept?: string | undefined }): Files {
  let mainText: string | undefined;
  const seen = new Map<string, string>();
  const listed = new Map<string, Outcome<readonly string[]>>();

  return {
    get mainText() {
      return mainText;
    },
    async readText(path, purpose) {
      if (path === main.path) {
        const text = main.kept === undefined ? await readFileText(path, purpose) : { value: main.kept };
        if ('value' in text) mainText = text.value;
        return text;
      }
      // Before it is read: what changes in between is then seen as changed.
      seen.set(path, await signatureOf(path));
      return await readFileText(path, purpose);
    },
    async list(pattern) {
      const paths = await pathsOf(pattern);
      listed.set(pattern, paths);
      return paths;
    },
    async haveChanged() {
      for (const [pattern, paths] of listed) if (!isSame(await pathsOf(pattern), paths)) return true;
      // One after the other: there may be a thousand, and nothing waits for them.
      for (const [path, signature] of seen) if ((await signatureOf(path)) !== signature) return true;
      return false;
    },
  };
}

/** A folder that is not there has no files, as for a shell; that a named file is missing is found when it is read. */
async function pathsOf(pattern: string): Promise<Outcome<readonly string[]>> {
  const name = basename(pattern);
  if (!name.includes('*')) return { value: [pattern] };
  const folder = dirname(pattern);
  const fits = globMatcher(name);
  try {
    const names = await readdir(folder);
    // Hidden ones are what editors leave while somebody writes.
    const fitting = names.filter((each) => !each.startsWith('.') && fits(each));
    return { value: fitting.toSorted().map((each) => join(folder, each)) };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? { value: [] } : { problem: `its folder cannot be read: ${causeOf(error)}` };
  }
}

/**
 * Differs when a file is replaced, as well behind a symbolic link, where Kubernetes swaps a whole folder. By the time of the
 * change, which nobody can set: keys have the same length, and what unpacks or copies them may give all of them one date.
 */
async function signatureOf(path: string): Promise<string> {
  try {
    const { ino, size, ctimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${ctimeNs}`;
  } catch (error) {
    return errorCode(error);
  }
}
