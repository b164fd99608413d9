import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { programsOf, suites } from '../../scripts/debian-programs.ts';
import { run } from './tools.ts';

const alertmanagers = ['alerts/alertmanager.example.yml', 'deploy/alertmanager/alertmanager.yml'];

describe.each(suites)('promtool and amtool of Debian %s', (suite) => {
  const programs = programsOf(suite);
  const [promtool, amtool] = ['promtool', 'amtool'].map((name) => join(programs, name));
  const isThere = existsSync(promtool ?? '') && existsSync(amtool ?? '');
  if (!isThere) console.warn(`NOT RUN: the checks by promtool and amtool of Debian ${suite}`);

  it.skipIf(!isThere)('accept the rules and the examples', () => {
    const judged = [
      [promtool, ['check', 'rules', '--lint=all', '--lint-fatal', ...globSync('alerts/*.rules.yml')]],
      [promtool, ['check', 'config', '--syntax-only', ...globSync('deploy/prometheus/*.yml')]],
      ...alertmanagers.map((file) => [amtool, ['check-config', file]] as const),
    ] as const;

    console.log(
      [promtool, amtool].map((program) => run(program ?? '', ['--version']).stdout.split('\n')[0]).join('; '),
    );
    for (const [program, words] of judged) {
      const { status, stdout, stderr } = run(program ?? '', words);
      expect(status, `${words.join(' ')}: ${stdout}${stderr}`).toBe(0);
    }
  });
});
