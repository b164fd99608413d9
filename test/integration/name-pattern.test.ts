import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NamePattern } from '../../src/lib/name-pattern.ts';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';

const raw = String.raw;
// No line break: Prometheus 2 does not match it with a dot, and 3 does, as the exporter.
const names = ['shop', 'shopZ', 'SHOP', 'shop h1', 'web-1', '_-', ']x', 'x', '-]', 'été', 'a.b', ''];
const patterns = [
  'shop',
  'shop|web-.*',
  raw`shop\z`,
  raw`\Ashop`,
  '^shop$',
  '(?i)shop',
  '[^]x]+',
  '[]_-]+',
  '[^]]+',
  '[[:alpha:]]+',
  raw`[^\W\d]+`,
  raw`\w+-\d`,
  raw`\x73hop`,
  raw`\x{73}hop`,
  raw`\Qa.b\E`,
  raw`\pL+`,
  raw`\p{Greek}*`,
  raw`\bshop\b`,
  'a.b',
  '(?s:a.b)',
  '(?-s)a.b',
  '(?P<n>shop)',
  's{1}hop{0,1}',
  's{,2}hop',
  '.{0}',
  '(?U)s.*p',
  raw`\141\.b`,
];
const refused = [
  raw`shop\Z`,
  raw`(db|shop)\Z`,
  raw`shop\h1`,
  raw`\Gshop`,
  raw`\K`,
  raw`\R`,
  raw`\X`,
  raw`\e`,
  raw`\y`,
  raw`\8`,
  raw`a\x2`,
  raw`\u0041`,
  raw`\cA`,
  '[]',
  '[^]',
  '[b-a]',
  'a**',
  '(?=a)',
  raw`(a)\1`,
  '(?P<n',
  'a{1001}',
];

/** What promtool says of rules: a series for each name, and a matcher with each pattern. */
function promtoolOn(file: string, text: string): { readonly isAccepted: boolean; readonly says: string } {
  const path = join(givenFolder(), file);
  writeFileSync(path, text);
  const command = file.startsWith('test') ? ['test', 'rules', path] : ['check', 'rules', path];
  const { status, stdout, stderr } = spawnSync('promtool', command, { encoding: 'utf8' });
  return { isAccepted: status === 0, says: stdout + stderr };
}

const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

it.skipIf(!isThere('promtool'))('a pattern matches the same names as in Prometheus', () => {
  const series = names.map((name, index) => ({ series: `m{name=${quoted(name)}, index="${index}"}`, values: '1' }));
  const cases = patterns.map((pattern) => {
    const compiled = new NamePattern(pattern);
    const fitting = names.flatMap((name, index) => (compiled.test(name) ? [index] : []));
    return {
      expr: `count by (index) (m{name=~${quoted(pattern)}})`,
      eval_time: '1m',
      exp_samples: fitting.map((index) => ({ labels: `{index="${index}"}`, value: 1 })),
    };
  });

  const { says } = promtoolOn(
    'test.yml',
    JSON.stringify({ tests: [{ interval: '1m', input_series: series, promql_expr_test: cases }] }),
  );

  expect(says).toContain('SUCCESS');
});

it.skipIf(!isThere('promtool'))('a pattern that Prometheus refuses is refused', () => {
  const taken = refused.filter((pattern) => {
    try {
      return new NamePattern(pattern).source;
    } catch {
      return false;
    }
  });
  const rules = refused.map((pattern) => ({ record: 'a', expr: `m{name=~${quoted(pattern)}}` }));
  const { says } = promtoolOn('rules.yml', JSON.stringify({ groups: [{ name: 'g', rules }] }));

  expect(taken).toEqual([]);
  expect(says.match(/error parsing regexp/g)).toHaveLength(refused.length);
});
