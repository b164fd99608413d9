import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  linkSync,
  lstatSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { givenFolder } from '../../support/folder.ts';

const script = 'deploy/systemd/install.sh';
export const apiKey = 'canary-key-of-an-appliance';
/** Somebody who can write to his own folders alone; only root can act as somebody else. */
const stranger = process.getuid?.() === 0 ? 65_534 : undefined;

/** Creates a folder of another user, which everybody may read. */
function givenSharedFolder(): string {
  const folder = givenFolder();
  chmodSync(folder, 0o755);
  giveToStranger(folder);
  return folder;
}

/** A clone without what `npm ci` and a build add to it. */
export function givenBareClone(): string {
  const clone = givenSharedFolder();
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'deploy/systemd'])
    cpSync(name, join(clone, name), { recursive: true });
  return clone;
}

/** A clone that was built; program and packages are hardly there, since copying takes its time. */
export function givenClone(): string {
  const clone = givenBareClone();
  const packages = {
    'node_modules/runs': {},
    'node_modules/runs/node_modules/inside': {},
    'node_modules/@scope/runs': {},
    'node_modules/tests': { dev: true },
  };
  writeFiles(clone, ['dist/src/main.js', ...Object.keys(packages).map((folder) => `${folder}/index.js`)]);
  const elsewhere = { 'node_modules/@other-platform/runs': { optional: true } };
  const lock = { packages: { ...packages, ...elsewhere } };
  writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify(lock));
  return clone;
}

/** An unpacked package that brings its packages along. */
export function givenUnpackedPackage(): string {
  const folder = givenBareClone();
  writeFiles(folder, ['dist/src/main.js', 'node_modules/runs/index.js', 'node_modules/@scope/runs/index.js']);
  mkdirSync(join(folder, 'node_modules/.bin'));
  return folder;
}

/** An unpacked archive, which brings Node.js along. */
export function givenArchive(): string {
  const folder = givenUnpackedPackage();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/node'), '#!/bin/sh\n');
  chmodSync(join(folder, 'bin/node'), 0o755);
  giveToStranger(folder);
  return folder;
}

/** Empty files that their owner alone may read, as a strict umask leaves them. */
function writeFiles(folder: string, names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), '', { mode: 0o600 });
  }
  giveToStranger(folder);
}

function giveToStranger(path: string): void {
  if (stranger !== undefined) spawnSync('chown', ['-R', `${stranger}`, path]);
}

/** A folder with these programs of the machine and no others. */
export function givenPrograms(names: readonly string[]): string {
  const folder = givenSharedFolder();
  for (const name of names)
    symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(folder, name));
  return folder;
}

/** The Node.js of this process where everybody may run it: its clone may be in a home directory. */
export function givenNode(): string {
  const node = join(givenSharedFolder(), 'node');
  try {
    linkSync(process.execPath, node);
  } catch {
    // On another disk.
    copyFileSync(process.execPath, node);
  }
  return node;
}

interface Run {
  readonly clone: string;
  /** Without one it is for this machine. */
  readonly destination?: string;
  readonly args?: readonly string[];
  /** The search path of programs. */
  readonly path?: string | undefined;
}

/**
 * Runs the script as another user, with a Node.js that is new enough unless another is named or
 * there.
 */
export function runScript({ clone, destination, args = [], path = process.env['PATH'] }: Run) {
  const isGiven = args.some((arg) => arg.startsWith('--node=')) || existsSync(join(clone, 'bin/node'));
  const node = isGiven ? [] : [`--node=${givenNode()}`];
  const { status, stdout, stderr } = spawnSync('/bin/sh', [join(clone, script), ...node, ...args], {
    encoding: 'utf8',
    env: { PATH: path, ...(destination === undefined ? {} : { DESTDIR: destination }) },
    uid: stranger,
    gid: stranger,
  });
  expect(stdout + stderr).not.toContain(apiKey);
  return { status, stdout, stderr };
}

/** An empty folder, and a clone to install from. */
export function givenDestination(clone = givenClone()) {
  const destination = givenSharedFolder();
  return {
    folder: destination,
    /** Runs the script, which never says a key. */
    install: (...args: readonly string[]) => runScript({ clone, destination, args }),
    pathOf: (path: string) => join(destination, path),
    /** Writes an API key, as the person who runs it does. */
    giveKey(name: string, mode = 0o600): void {
      const file = join(destination, 'etc/zlb-exporter/keys', name);
      writeFileSync(file, apiKey);
      chmodSync(file, mode);
      giveToStranger(file);
    },
    /** The mode of everything but what the program consists of. */
    modes(): Readonly<Record<string, string>> {
      const paths = globSync(['etc/**', 'opt/zlb-exporter'], { cwd: destination }).toSorted();
      return Object.fromEntries(
        paths.map((path) => [path, (lstatSync(join(destination, path)).mode & 0o777).toString(8)]),
      );
    },
  };
}
