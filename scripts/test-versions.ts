import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fetchPrograms, suites } from './debian-programs.ts';

// Runs the tests of scrapes, rules and notifications with the programs of each suite.
const tests = [
  'test/versions',
  'test/integration/alertmanager-config.test.ts',
  'test/e2e/pages.test.ts',
  'test/e2e/prometheus.test.ts',
  'test/e2e/alerting.test.ts',
  'test/e2e/alerting-scenes.test.ts',
];

let failures = 0;
for (const suite of suites) {
  const programs = fetchPrograms(suite);
  if (programs === undefined) continue;
  const PATH = `${programs}${delimiter}${process.env['PATH']}`;
  const versions = ['prometheus', 'prometheus-alertmanager'].map((program) => firstLine(program, PATH));
  console.log(`\n== ${versions.join('; ')}`);
  timed(
    'promtool check rules',
    'promtool',
    ['check', 'rules', '--lint=all', '--lint-fatal', ...globSync('alerts/*.rules.yml')],
    PATH,
  );
  timed('promtool test rules', 'promtool', ['test', 'rules', ...globSync('alerts/tests/**/*.test.yml')], PATH);
  const projects = ['versions', 'integration', 'e2e', 'long'].map((name) => `--project=${name}`);
  timed('scrapes, rules, notifications', 'npx', ['vitest', 'run', ...projects, ...tests], PATH);
}
process.exitCode = failures > 0 ? 1 : 0;

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
