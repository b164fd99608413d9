import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The commit that today's figures are compared with: the last one before the budget of routine readings. */
export const olderCommit = '584d9b54';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Writes the older commit, or these folders and files of it, into a new folder that uses our packages. */
export function checkOutOlder(...paths: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-older-'));
  const archive = execFileSync('git', ['archive', olderCommit, ...paths], { cwd: repository, maxBuffer: 1e9 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'bench'), { recursive: true });
  return folder;
}
