import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ProgramError, run } from './run-program.ts';

/** Packages of the oldest and of the newest Prometheus and Alertmanager, by suite of Debian. */
const packagesOf = {
  bookworm: ['prometheus', 'prometheus-alertmanager'],
  sid: ['prometheus', 'promtool', 'prometheus-alertmanager', 'victoria-metrics'],
};
export type Suite = keyof typeof packagesOf;
export const suites = ['bookworm', 'sid'] as const satisfies readonly Suite[];

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'zlb-exporter', 'versions');

/** The folder of the programs of a suite, outside the repository. Remove it to get newer ones. */
export const programsOf = (suite: Suite): string => join(cache, suite, 'usr/bin');

/**
 * Unpacks the programs of a suite, and installs nothing; returns their folder, or says in one line
 * why there is none.
 */
export function fetchPrograms(suite: Suite): string | undefined {
  const folder = join(cache, suite);
  const programs = programsOf(suite);
  if (existsSync(programs)) return programs;
  try {
    download(suite, packagesOf[suite], folder);
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
