import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** The commit that was built, where the build said so. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** Reads the package's version; works from `src/` and from `dist/`. */
export function readBuildInfo(env: Readonly<Record<string, string | undefined>>): BuildInfo {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return { version, revision: env.ZLB_EXPORTER_REVISION ?? 'unknown', nodeVersion: process.version };
}
