import { globSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../src/appliance/endpoints/table.ts';
import { codeSpansIn, tablesIn } from '../../support/document-tables.ts';
import { knownSeries } from '../../support/known-series.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const pages = ['README.md', ...globSync(['docs/*.md', 'deploy/**/*.md'], { cwd: root.pathname })];

const rules = read('alerts/zlb.rules.yml');
const known = await knownSeries();
const isMetric = (name: string): boolean => known.has(name) || known.has(`${name}_bucket`);

function namesIn(page: string, pattern: RegExp): readonly string[] {
  return [...new Set(codeSpansIn(read(page).replaceAll(/^\s*```[^]*?^\s*```/gm, '')))].flatMap(
    (span) => pattern.exec(span)?.[1] ?? [],
  );
}

it('finds names to look up', () => {
  expect(pages.flatMap((page) => namesIn(page, /^(zlb[_:]\w+)/)).length).toBeGreaterThan(100);
  expect(pages.flatMap((page) => namesIn(page, /^(Zlb[A-Z]\w+)$/)).length).toBeGreaterThan(30);
});

describe.each(pages)('%s', (page) => {
  it('names metrics that there are', () => {
    const named = namesIn(page, /^(zlb[_:][a-z0-9_:]+[a-z0-9])(?:$|[{ ])/);

    expect(named.filter((name) => !isMetric(name))).toEqual([]);
  });

  it('names alerts that there are', () => {
    const named = namesIn(page, /^(Zlb[A-Z]\w+)$/);

    expect(named.filter((name) => !rules.includes(`alert: ${name}\n`))).toEqual([]);
  });
});

it('README.md counts what there is', () => {
  const counted = {
    alerts: new Set([...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)).size,
    operations: Object.keys(endpoints).length,
    'requests with their answers': readdirSync(new URL('test/recorded/exchanges', root)).length,
  };
  const text = read('README.md').replaceAll(/\s+/g, ' ');

  for (const [what, count] of Object.entries(counted)) expect(text).toContain(`${count} ${what}`);
});

it('docs/migrating-from-nagios.md names thresholds that there are', () => {
  const cells = tablesIn(read('docs/migrating-from-nagios.md'))
    .filter(({ head }) => head.at(-1) === 'Threshold')
    .flatMap(({ rows }) => rows.flatMap((row) => codeSpansIn(row.at(-1) ?? '')));

  expect(cells.length).toBeGreaterThan(10);
  expect(cells.filter((name) => !rules.includes(`{ name: ${name} }`))).toEqual([]);
});
