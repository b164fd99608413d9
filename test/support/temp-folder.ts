import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'zlb-tests-';

/**
 * Gives all tests one temporary folder, which ends with them; the run fails if they left something
 * in it.
 */
export default function setup(): (() => void) | undefined {
  // Called for the configuration and for each of its projects.
  if (basename(tmpdir()).startsWith(prefix)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  // As open as the folder that it stands for: some tests start programs as another user.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => {
    const left = readdirSync(folder);
    rmSync(folder, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`Tests left in the temporary folder: ${left.join(', ')}`);
  };
}
