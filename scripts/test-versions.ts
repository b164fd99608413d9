import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ProgramError, run } from './run-program.ts';

/**
 * Packages by suite of Debian. `npm run test:versions` runs the tests of scrapes, rules and
 * notifications with the programs of each. It unpacks them in a cache outside the repository, and
 * installs nothing. Remove the cache to get newer ones.
 */
const suites = {
  bookworm: ['prometheus', 'prometheus-alertmanager'],
  sid: ['prometheus', 'promtool', 'prometheus-alertmanager', 'victoria-metrics'],
};
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'zlb-exporter', 'versions');

const tests = [
  'test/versions',
  'test/integration/alertmanager-config.test.ts',
  'test/integration/pages.test.ts',
  'test/e2e/prometheus.test.ts',
  'test/e2e/alerting.test.ts',
  'test/e2e/alerting-scenes.test.ts',
];

let failures = 0;
for (const [suite, packages] of Object.entries(suites)) {
  const programs = unpacked(suite, packages);
  if (programs === undefined) continue;
  const PATH = `${programs}${delimiter}${process.env['PATH']}`;
  const versions = ['prometheus', 'prometheus-alertmanager'].map((program) => firstLine(program, PATH));
  console.log(`\n== ${versions.join('; ')}`);
  timed('promtool check rules', 'promtool', ['check', 'rules', '--lint=all', ...globSync('alerts/*.rules.yml')], PATH);
  timed('promtool test rules', 'promtool', ['test', 'rules', ...globSync('alerts/tests/**/*.test.yml')], PATH);
  const projects = ['versions', 'integration', 'e2e', 'long'].map((name) => `--project=${name}`);
  timed('scrapes, rules, notifications', 'npx', ['vitest', 'run', ...projects, ...tests], PATH);
}
process.exitCode = failures > 0 ? 1 : 0;

/** Returns the folder of the programs of a suite; says in one line why there is none. */
function unpacked(suite: string, packages: readonly string[]): string | undefined {
  const folder = join(cache, suite);
  const programs = join(folder, 'usr/bin');
  if (existsSync(programs)) return programs;
  try {
    download(suite, packages, folder);
    return programs;
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    rmSync(folder, { recursive: true, force: true });
    console.warn(
      `NOT RUN: the versions of Debian ${suite}, which cannot be had here (${error.message.split('\n')[0]})`,
    );
    return undefined;
  }
}

function download(suite: string, packages: readonly string[], folder: string): void {
  const mirrors = run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']).split('\n');
  const mirror = mirrors.find((uri) => uri.endsWith('/debian/'));
  if (mirror === undefined) throw new ProgramError('apt-get knows no mirror of Debian');
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'packages'])
    mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'state/status'), '');
  writeFileSync(join(folder, 'sources.list'), `deb ${mirror} ${suite} main\n`);
  const settings = [
    `Dir::Etc::sourcelist=${join(folder, 'sources.list')}`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State=${join(folder, 'state')}`,
    `Dir::State::status=${join(folder, 'state/status')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    'APT::Sandbox::User=root',
  ].flatMap((setting) => ['-o', setting]);
  const cwd = join(folder, 'packages');
  run('apt-get', [...settings, 'update'], { cwd });
  run('apt-get', [...settings, 'download', ...packages], { cwd });
  for (const file of globSync('*.deb', { cwd })) run('dpkg-deb', ['--extract', file, folder], { cwd });
}

function timed(what: string, program: string, words: readonly string[], PATH: string): void {
  const startedAtMs = performance.now();
  const { status } = spawnSync(program, words, { stdio: 'inherit', env: { ...process.env, PATH } });
  if (status !== 0) failures += 1;
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
  console.log(`== ${what}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
}

function firstLine(program: string, PATH: string): string {
  const { stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8', env: { ...process.env, PATH } });
  return /^\S+, version \S+/.exec(`${stdout}${stderr}`)?.[0] ?? `${program} does not start`;
}
