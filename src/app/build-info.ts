import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface BuildInfo {
  readonly version: string;
  /** The commit of the image or of the clone; otherwise `unknown`. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/**
 * Reads the package's version and commit; works from a clone and from `dist/`, and on an older
 * Node.js, which knows the URL of this file and not its folder.
 */
export function readBuildInfo(env: Readonly<Record<string, string | undefined>>): BuildInfo {
  const root = packageFolder(dirname(fileURLToPath(import.meta.url)));
  const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string };
  const revision = env.ZLB_EXPORTER_REVISION ?? gitRevision(root) ?? 'unknown';
  return { version, revision, nodeVersion: process.version };
}

/** Returns the nearest folder with a package.json, from here up. */
export function packageFolder(folder: string): string {
  return existsSync(resolve(folder, 'package.json')) ? folder : packageFolder(dirname(folder));
}

/**
 * Returns the commit that is checked out in a folder, from git's own files; undefined if it is no
 * clone.
 */
export function gitRevision(folder: string): string | undefined {
  // In a worktree or a submodule, `.git` is a file that names the folder.
  const pointer = textOf(folder, '.git')?.replace(/^gitdir: /, '');
  const own = resolve(folder, pointer ?? '.git');
  const head = textOf(own, 'HEAD');
  if (head === undefined || isCommit(head)) return head;
  // The worktrees of a clone share its branches.
  const shared = resolve(own, textOf(own, 'commondir') ?? '.');
  const branch = head.replace(/^ref: /, '');
  const packed = textOf(shared, 'packed-refs')?.split('\n') ?? [];
  const found = textOf(shared, branch) ?? packed.find((line) => line.endsWith(` ${branch}`))?.split(' ')[0];
  return found !== undefined && isCommit(found) ? found : undefined;
}

function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(text);
}

function textOf(...path: readonly string[]): string | undefined {
  try {
    return readFileSync(resolve(...path), 'utf8').trim();
  } catch {
    return undefined;
  }
}
