import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOutOlder } from './older.ts';

/** A command and its first arguments. */
export type Program = readonly [command: string, ...string[]];

/** The exporter as `npm install` leaves it in an empty folder. */
export interface InstalledPackage {
  /** The program that `npx zlb-exporter` starts. */
  readonly command: string;
  readonly folder: string;
  remove(): void;
}

/** The exporter and the older commit, installed. */
export interface Builds {
  /** As `npx zlb-exporter` starts it. */
  readonly plain: Program;
  /** With the flags of Node.js that the unit has, as packages and the image start it. */
  readonly ours: Program;
  /** The older commit, as its unit starts it. */
  readonly older: Program;
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
    folder: join(folder, 'node_modules', 'zlb-exporter'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Installs the package, and beside it the older commit. */
export function installBuilds(): Builds & Pick<InstalledPackage, 'remove'> {
  const { command, folder, remove } = installPackage();
  const older = join(folder, 'older');
  installOlder(folder, older);
  return { plain: [command], ours: programIn(folder), older: programIn(older), remove };
}

/**
 * Builds the older commit, and puts it with our packages into a folder. It has more, for its gateway,
 * which does not run here.
 */
function installOlder(installed: string, folder: string): void {
  const sources = checkOutOlder();
  const build = (...words: readonly string[]): void =>
    void execFileSync(process.execPath, words, { cwd: sources, env: plainEnvironment(), stdio: 'inherit' });
  try {
    const theirs = dependenciesIn(sources);
    for (const [name, version] of Object.entries(dependenciesIn(installed)))
      if (theirs[name] !== version)
        throw new Error(`the older commit depends on ${name} ${theirs[name]}, not ${version}`);
    // Its types were checked then, with all of its packages.
    build('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck');
    for (const assets of ['assets', 'console'])
      cpSync(join(sources, 'src/pages', assets), join(sources, 'dist/src/pages', assets), { recursive: true });
    build('scripts/build-runbooks.ts');
    cpSync(join(installed, 'node_modules'), join(folder, 'node_modules'), { recursive: true });
    for (const path of ['dist', 'deploy', 'docs', 'package.json'])
      cpSync(join(sources, path), join(folder, path), { recursive: true });
  } finally {
    rmSync(sources, { recursive: true });
  }
}

function dependenciesIn(folder: string): Readonly<Record<string, string>> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return manifest.dependencies;
}

/** Returns how the unit in a folder starts the program in it. */
function programIn(folder: string): Program {
  const unit = readFileSync(join(folder, 'deploy', 'systemd', 'zlb-exporter.service'), 'utf8');
  const flags = /^ExecStart=.*?(--max-\S+)/m.exec(unit)?.slice(1) ?? [];
  return [process.execPath, ...flags, join(folder, 'dist', 'src', 'main.js')];
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
