import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { givenFolder } from '../support/folder.ts';

/** Runs .ci/run with an npm that does what is given for each of its commands. */
function run(commands: Readonly<Record<string, string>>) {
  const folder = givenFolder();
  cpSync('.ci/run', join(folder, '.ci/run'));
  const cases = Object.entries(commands).map(([words, script]) => `'${words}') ${script} ;;`);
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\ncase "$*" in\n${cases.join('\n')}\nesac\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const { status, stdout } = spawnSync('bash', [join(folder, '.ci/run')], { env, encoding: 'utf8' });
  return { status, last: stdout.trimEnd().split('\n').at(-1) };
}

const counts = (numbers: string): string => `echo ${numbers} >>"$TEST_COUNTS"`;

it.each([
  ['sums up its suites', [counts('7 0 1'), counts('20 0 2'), counts('3 0 4')], '30 passed, 0 failed, 7 skipped', 0],
  [
    'runs all suites where one fails',
    [`${counts('7 2 0')}; exit 1`, counts('20 0 0'), counts('3 0 0')],
    '30 passed, 2 failed, 0 skipped',
    1,
  ],
  ['fails where a suite does not start', ['exit 1', counts('20 0 0'), ':'], '20 passed, 1 failed, 0 skipped', 1],
  [
    'names failures of the long suites, which do not decide',
    [counts('7 0 0'), `${counts('20 1 0')}; exit 1`, counts('3 0 0')],
    '30 passed, 1 failed, 0 skipped',
    0,
  ],
  ['fails where nothing passed', [counts('0 0 9'), ':', ':'], '0 passed, 0 failed, 9 skipped', 1],
])('.ci/run %s', (_, [test = '', all = '', judges = ''], last, status) => {
  expect(run({ test, 'run test:all': all, 'run test:judges': judges })).toEqual({ status, last });
});

it('.ci/run fails where npm cannot install', () => {
  const result = run({ ci: 'exit 1', test: counts('1 0 0'), 'run test:all': 'exit 1', 'run test:judges': 'exit 1' });

  expect(result).toEqual({ status: 1, last: '0 passed, 1 failed, 0 skipped' });
});
