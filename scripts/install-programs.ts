import { spawnSync } from 'node:child_process';
import { existsSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { type Installable, installable, isSuite, type TestSuite } from './test-programs.ts';

// Installs the programs of the named suites that this machine lacks, as root on Debian: `node
// scripts/install-programs.ts test all`. Elsewhere it does nothing, and the suites say what was not
// run.

const units = '/{etc,lib,usr/lib}/systemd/system/*.{service,timer,socket}';
const policy = '/usr/sbin/policy-rc.d';

const suites = process.argv.slice(2).filter(isSuite);
const missing = missingFor(suites);
if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) install(missing);

function missingFor(suites: readonly TestSuite[]): readonly Installable[] {
  return installable.filter(
    (each) => each.suites.some((suite) => suites.includes(suite)) && !each.programs.every(isThere),
  );
}

/** Installs packages of Debian. None of their services starts, neither now nor at the next boot. */
function install(wanted: readonly Installable[]): void {
  const names = wanted.flatMap(({ packages }) => packages);
  console.log(`Installing ${names.join(' ')} for the tests …`);
  const before = new Set(globSync(units));
  const isOurs = !existsSync(policy);
  // Asked by Debian before a service starts: 101 is no.
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    aptGet('update', '-qq');
    aptGet('install', '-y', '-qq', '--no-install-recommends', ...names);
    for (const { fromPython } of wanted) if (fromPython !== undefined) pipx('install', fromPython);
  } finally {
    if (isOurs) rmSync(policy);
  }
  const added = globSync(units).filter((unit) => !before.has(unit) && !unit.includes('@'));
  if (added.length > 0)
    spawnSync('systemctl', ['disable', '--quiet', ...added.map((unit) => unit.replace(/.*\//, ''))]);
}

function aptGet(...words: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Runs pipx, so that everybody finds what it installs. */
function pipx(...words: readonly string[]): void {
  const env = { ...process.env, PIPX_HOME: '/opt/pipx', PIPX_BIN_DIR: '/usr/local/bin' };
  spawnSync('/usr/bin/pipx', words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function isThere(program: string): boolean {
  return program.startsWith('/')
    ? existsSync(program)
    : spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
}
