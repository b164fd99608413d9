import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeSpansIn, tablesIn } from '../../support/document-tables.ts';
import { knownSeries } from '../../support/known-series.ts';
import { alertNames, shippedRules } from '../../support/shipped-rules.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const pages = ['README.md', ...globSync(['docs/*.md', 'deploy/**/*.md'], { cwd: root.pathname })];

const known = await knownSeries();
const isMetric = (name: string): boolean => known.has(name) || known.has(`${name}_bucket`);

function namesIn(page: string, pattern: RegExp): readonly string[] {
  return [...new Set(codeSpansIn(read(page).replaceAll(/^\s*```[^]*?^\s*```/gm, '')))].flatMap(
    (span) => pattern.exec(span)?.[1] ?? [],
  );
}

it('the documents contain metric and alert names to check', () => {
  expect(pages.flatMap((page) => namesIn(page, /^(zlb[_:]\w+)/)).length).toBeGreaterThan(100);
  expect(pages.flatMap((page) => namesIn(page, /^(Zlb[A-Z]\w+)$/)).length).toBeGreaterThan(15);
});

describe.each(pages)('%s', (page) => {
  it('names only existing metrics', () => {
    const named = namesIn(page, /^(zlb[_:][a-z0-9_:]+[a-z0-9])(?:$|[{ ])/);

    expect(named.filter((name) => !isMetric(name))).toEqual([]);
  });

  it('names only existing alerts', () => {
    const named = namesIn(page, /^(Zlb[A-Z]\w+)$/);

    expect(named.filter((name) => !alertNames.includes(name))).toEqual([]);
  });
});

it('docs/migrating-from-nagios.md uses the numbers of the rules', () => {
  const cells = tablesIn(read('docs/migrating-from-nagios.md'))
    .filter(({ head }) => head.at(-1) === 'Threshold')
    .flatMap(({ rows }) => rows.flatMap((row) => codeSpansIn(row.at(-1) ?? '')));

  expect(cells.length).toBeGreaterThan(8);
  expect(cells.filter((text) => !shippedRules.some(({ expr }) => expr.includes(text)))).toEqual([]);
});
