import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judge, judgesFolder, run } from './tools.ts';

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const ending = (end: RegExp): readonly string[] => files.filter((file) => end.test(file));
const schemas = join(judgesFolder, 'schemas/{{.ResourceKind}}.json');
const scripts = ending(/\.sh$|^\.ci\/run$|^zlb-exporter$/);

/** False for parts of other scripts, which a shell reads. */
function namesItsShell(file: string): boolean {
  return readFileSync(file, 'utf8').startsWith('#!');
}

describe.each([
  ['actionlint', [], ending(/^\.github\/workflows\/.*\.yml$/)],
  ['shellcheck', [], scripts.filter(namesItsShell)],
  ['shellcheck', ['--shell=sh'], scripts.filter((file) => !namesItsShell(file))],
  ['hadolint', [], ending(/Dockerfile$/)],
  ['kubeconform', ['-strict', '-schema-location', schemas], ['deploy/alertmanager/alertmanager-config.yaml']],
] as const)('the linter %s', (name, options, judged) => {
  const program = judge(name);

  it.skipIf(!program)('reports nothing', () => {
    expect(judged).not.toEqual([]);
    expect(run(program ?? '', [...options, ...judged])).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
});
