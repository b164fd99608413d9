import { stat } from 'node:fs/promises';
import type { Files } from '../../config/files.ts';

/** Files that keep note of those among them that hold keys. */
export interface NotedFiles extends Files {
  readonly keyFiles: ReadonlySet<string>;
}

export function noteKeyFiles(files: Files): NotedFiles {
  const keyFiles = new Set<string>();
  return {
    list: files.list,
    haveChanged: () => files.haveChanged(),
    get mainText() {
      return files.mainText;
    },
    keyFiles,
    readText(path, purpose) {
      if (purpose === 'key') keyFiles.add(path);
      return files.readText(path, purpose);
    },
  };
}

const readableByAll = 0o004;

/** A line for each key that every user of this machine can read. */
export async function openKeyLines(keyFiles: ReadonlySet<string>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const path of keyFiles) {
    const { mode } = await stat(path);
    if ((mode & readableByAll) !== 0)
      lines.push(`Every user of this machine can read the key in ${path}: chmod 600 ${path}`);
  }
  return lines;
}
