import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The exporter as `npm install` leaves it in an empty folder. */
export interface InstalledPackage {
  /** The program that `npx zlb-exporter` starts. */
  readonly command: string;
  remove(): void;
}

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Packs this clone and installs the package. Nothing is fetched: its dependencies are in it. */
export function installPackage(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-installed-'));
  runNpm(repository, ['pack', '--silent', '--pack-destination', folder]);
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  if (packed === undefined) throw new Error('npm pack made no package');
  runNpm(folder, ['install', '--offline', '--loglevel=error', `./${packed}`]);
  return {
    command: join(folder, 'node_modules', '.bin', 'zlb-exporter'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/**
 * This environment without the variables that change Node.js or its memory, and with this Node.js
 * first.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_|MALLOC_|INIT_CWD$)/.test(name));
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path };
}

function runNpm(cwd: string, words: readonly string[]): void {
  execFileSync('npm', words, { cwd, env: plainEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] });
}
