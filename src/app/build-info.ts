import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export interface BuildInfo {
  readonly version: string;
  /** The commit that the image or the package was built from; `unknown` in a clone. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** Reads the package's version and commit; works from a clone and from `dist/`. */
export function readBuildInfo(env: Readonly<Record<string, string | undefined>>): BuildInfo {
  const root = packageFolder(import.meta.dirname);
  const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string };
  const revision = env.ZLB_EXPORTER_REVISION || 'unknown';
  return { version, revision, nodeVersion: process.version };
}

/** Returns the nearest folder with a package.json, from here up. */
export function packageFolder(folder: string): string {
  return existsSync(resolve(folder, 'package.json')) ? folder : packageFolder(dirname(folder));
}
