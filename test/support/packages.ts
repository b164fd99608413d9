import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Packages that a build needs besides the packages that run. */
const buildTool = /^node_modules\/(?:typescript|@typescript\/[\w-]+|@types\/node|undici-types|marked|github-slugger)$/;

/**
 * Copies the packages that run, and those that build, out of this clone, as `npm ci` would lay
 * them. Copies and not links: what a build takes out of them stays in the clone.
 */
function copyPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const needed = Object.entries(packages).flatMap(([path, { dev }]) =>
    // The lock file names the compilers of all platforms; one of them is there.
    path !== '' && (!dev || buildTool.test(path)) && existsSync(path) ? [path] : [],
  );
  for (const path of needed) cpSync(path, join(folder, path), { recursive: true });
  cpSync('node_modules/.bin/tsc', join(folder, 'node_modules/.bin/tsc'), { verbatimSymlinks: true });
}

/** Copies this clone, with what a build needs: building the copy does not touch this one. */
export function copyClone(folder: string): void {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of listed.stdout.trim().split('\n'))
    if (file !== 'node_modules' && existsSync(file)) cpSync(file, join(folder, file), { recursive: true });
  copyPackages(folder);
}
