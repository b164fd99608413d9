import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../run-program.ts';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Files of packages that Node.js never reads; their licences stay. */
const neverRead: readonly RegExp[] = [
  /(?<!licen[cs]e)\.(?:map|ts|mts|cts|md)$/i,
  /\/\./,
  // A web page that loads scripts of other sites.
  /node_modules\/pino\/index\.html$/,
  /node_modules\/(?:@[^/]+\/)?[^/]+\/(?:test|spec|docs|integration|benchmarks?|examples?)(?:\/|$)/,
];

/** Lays the program with its packages, rules, dashboards and this Node.js into a folder. */
export function layProgram(folder: string): void {
  if (!existsSync('dist/src/main.js')) throw new Error('dist is not there: run npm run build first');
  for (const name of ['dist', 'package.json', 'dashboards']) cpSync(name, join(folder, name), { recursive: true });
  for (const name of ['zlb.rules.yml', 'zlb-extended.rules.yml', 'alertmanager.example.yml'])
    cpSync(join('alerts', name), join(folder, 'alerts', name));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  for (const [path, { dev }] of Object.entries(packages))
    if (path !== '' && !dev && existsSync(path))
      cpSync(path, join(folder, path), {
        recursive: true,
        filter: (file) => !neverRead.some((pattern) => pattern.test(file)),
      });
  mkdirSync(join(folder, 'bin'));
  // Without the names of functions it is 18 MB smaller.
  run('strip', ['--strip-unneeded', '-o', join(folder, 'bin/node'), process.execPath]);
}

/** Lays the manuals into a folder. */
export function layDocuments(folder: string): void {
  for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE']) cpSync(name, join(folder, name));
  cpSync('docs', join(folder, 'docs'), { recursive: true, filter: (file) => !file.startsWith('docs/pictures') });
}

/** Writes a file and the folders above it. */
export function writeFile(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/**
 * Makes everything readable by all, writable by its owner alone, and as old as the release; only
 * `programs` can be started.
 */
export function settle(folder: string, programs: readonly string[], builtAt: Date): void {
  const date = `--date=@${Math.floor(builtAt.getTime() / 1_000)}`;
  run('find', [folder, '-type', 'd', '-exec', 'chmod', '755', '{}', '+']);
  run('find', [folder, '-type', 'f', '-exec', 'chmod', '644', '{}', '+']);
  run('chmod', ['755', ...programs.map((program) => join(folder, program))]);
  run('find', [folder, '-exec', 'touch', '--no-dereference', date, '{}', '+']);
}
