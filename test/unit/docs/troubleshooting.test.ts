import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problemCodes, problemStatus } from '../../../src/admin/policy/problem.ts';
import { failureReasons } from '../../../src/appliance/errors.ts';
import { dropReasons } from '../../../src/scheduler/counters.ts';
import { skipReasons } from '../../../src/state/status.ts';
import { codeSpansIn, tablesIn } from '../../support/document-tables.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const tables = tablesIn(read('docs/troubleshooting.md'));
const bySymptom = tables.filter(({ head }) => head[0] === 'You see');
const symptoms = bySymptom.flatMap(({ rows }) => rows.flatMap(([seen = '']) => codeSpansIn(seen)));
const isMetric = (symptom: string): boolean => /^zlb[_:]/.test(symptom);
const isAlert = (symptom: string): boolean => /^Zlb[A-Z]\w+$/.test(symptom);
const isSetting = (symptom: string): boolean => /^[\w.]+$|^\/[-\w/]+$/.test(symptom);

/**
 * The sources as texts: literals that are joined to one are one, and quotes in them stand for
 * themselves.
 */
const sources = globSync('src/**/*.ts', { cwd: root.pathname }).map((path) => read(path));
const literals = sources
  .join('\n')
  .replaceAll(/['"`]\s*\+\s*['"`]/g, '')
  .replaceAll(/\\(['"`])/g, '$1');

/** Returns the constant parts of a message: it may be composed of several literals. */
function fragmentsOf(message: string): readonly string[] {
  return message
    .split(/…|[.:;] /)
    .map((part) => part.replaceAll(/^[\s"'().:;]+|[\s"'().:;]+$/g, ''))
    .filter((part) => part.length > 3);
}

describe('docs/troubleshooting.md', () => {
  it('lists symptoms in the words of the program', () => {
    expect(symptoms.length).toBeGreaterThan(40);
  });

  const messages = symptoms.filter((each) => !isMetric(each) && !isAlert(each) && !isSetting(each));

  it.each(messages)('quotes a message of the program: %s', (message) => {
    const fragments = fragmentsOf(message);

    expect(fragments).not.toEqual([]);
    expect(fragments.filter((fragment) => !literals.includes(fragment))).toEqual([]);
  });

  it('explains every reason of a failed call', () => {
    const rows = tables.find(({ head }) => head[0] === '`reason`')?.rows ?? [];

    const explained = new Set(rows.flatMap(([reason = '']) => codeSpansIn(reason)));

    expect([...explained].toSorted()).toEqual([...failureReasons].toSorted());
  });

  it('explains every reason of a skipped run or a dropped series', () => {
    const labels = (metric: string): readonly string[] =>
      symptoms.flatMap((each) => (each.startsWith(metric) ? [/reason="(\w+)"/.exec(each)?.[1] ?? ''] : []));

    expect(labels('zlb_collector_skipped_total').toSorted()).toEqual([...skipReasons].toSorted());
    expect(labels('zlb_exporter_series_dropped_total').toSorted()).toEqual([...dropReasons].toSorted());
  });

  it('explains refusals of the gateway with their status', () => {
    const rows = tables.find(({ section, head }) => section === 'The gateway refuses' && head[0] === '`code`')?.rows;
    const explained = rows?.flatMap(([cell = '']) => cell.split(', ')) ?? [];

    const known = problemCodes.map((code) => `\`${code}\` (${problemStatus(code)})`);
    expect(explained).not.toEqual([]);
    expect(explained.filter((code) => !known.includes(code))).toEqual([]);
  });

  it('explains every warning and error that the program logs', () => {
    const logged = sources.flatMap((text) =>
      [...text.matchAll(/[.\w]\.(?:warn|error|write)\((.*?)\)[;,]\n/gs)].flatMap(([, call = '']) => {
        const message = [...call.matchAll(/'([a-z][^'\\]+)'/g)].at(-1)?.[1];
        return message === undefined ? [] : [message];
      }),
    );
    const text = read('docs/troubleshooting.md');

    expect(logged.length).toBeGreaterThan(15);
    expect([...new Set(logged)].filter((message) => !text.includes(`\`${message}\``))).toEqual([]);
  });
});
