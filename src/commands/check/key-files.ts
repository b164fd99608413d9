import { stat } from 'node:fs/promises';
import type { Files } from '../../config/files.ts';

/** Files that record which of them hold keys. */
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
    async readText(path, purpose) {
      const text = await files.readText(path, purpose);
      if (purpose === 'key' || ('value' in text && keyInYaml.test(text.value))) keyFiles.add(path);
      return text;
    },
  };
}

/** Matches an API key that is in the configuration itself and not in an environment variable. */
const keyInYaml = /^[^#\n]*\b(?:admin_)?api_key["']?\s*:\s*(?!["']?\$\{)\S/m;

const readableByAll = 0o004;

/** Returns a line for each file with a key that every user of this machine can read. */
export async function openKeyLines(keyFiles: ReadonlySet<string>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const path of keyFiles) {
    const { mode } = await stat(path);
    if ((mode & readableByAll) !== 0)
      lines.push(
        `Every user of this machine can read the key in ${path}. Give it to the exporter alone: chmod 600 ${path}`,
      );
  }
  return lines;
}
