import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { commands } from '../../src/commands/commands.ts';
import { knownSeries, labellings } from '../support/known-series.ts';
import { labelFlow } from '../support/label-flow.ts';
import { feed, isThere } from '../support/programs.ts';
import { selectorsOf } from '../support/promql.ts';
import { alertNames, expressionsOf, type RuleGroup, shippedFiles, shippedRules } from '../support/shipped-rules.ts';

interface Case {
  readonly alertname: string;
  readonly exp_alerts?: readonly { readonly exp_annotations?: Readonly<Record<string, string>> }[];
}

interface Cases {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly Case[];
    readonly promql_expr_test?: readonly { readonly expr: string; readonly exp_samples?: readonly unknown[] }[];
  }[];
}

const root = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const alertsIn = (groups: readonly RuleGroup[]) =>
  groups
    .flatMap(({ rules }) => rules)
    .flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const alerts = alertsIn(shippedFiles.flat());
const testFiles = readdirSync(new URL('alerts/tests/', root), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.yml'))
  .map((file) => `alerts/tests/${file}`);
const phrasesOf = (template = ''): readonly string[] => template.split(/\{\{.*?\}\}/s);
const dashboards = readdirSync(new URL('dashboards/', root))
  .filter((file) => file.endsWith('.json'))
  .map((file) => (JSON.parse(read(`dashboards/${file}`)) as { uid: string }).uid);

describe('every alert', () => {
  const tests = testFiles.flatMap((file) => (parse(read(file)) as Cases).tests);
  const cases = tests.flatMap((test) => test.alert_rule_test ?? []);
  const queries = tests.flatMap((test) => test.promql_expr_test ?? []);
  const runbooks = read('docs/operations.md');

  it.each(alertNames)('%s has a test case in which it fires, with its text, and one in which it does not', (name) => {
    const own = cases.filter(({ alertname }) => alertname === name);
    const silent =
      own.some(({ exp_alerts = [] }) => exp_alerts.length === 0) ||
      queries.some(({ expr, exp_samples = [] }) => expr.includes(`"${name}"`) && exp_samples.length === 0);

    expect(
      own.some(({ exp_alerts = [] }) => exp_alerts.some((alert) => alert.exp_annotations)),
      'a case in which it fires, with its annotations',
    ).toBe(true);
    expect(silent, 'a case in which it does not fire').toBe(true);
  });

  it.each(alerts)('$alert ($annotations.summary) sends no phrase that is in no test', ({ alert, annotations = {} }) => {
    const titles = phrasesOf(annotations['summary']);
    const sent = cases
      .filter(({ alertname }) => alertname === alert)
      .flatMap(({ exp_alerts = [] }) => exp_alerts.map(({ exp_annotations = {} }) => exp_annotations))
      .filter(({ summary = '' }) => titles.includes(summary))
      .map(({ summary, description }) => `${summary} ${description}`);

    expect(
      [...titles, ...phrasesOf(annotations['description'])].filter(
        (phrase) => !sent.some((text) => text.includes(phrase)),
      ),
    ).toEqual([]);
  });

  it('names only commands that exist wherever the exporter is installed', () => {
    const named = alerts.flatMap(({ annotations = {} }) => [
      ...Object.values(annotations)
        .join('\n')
        .matchAll(/`(\S+ [^`]+)`/g),
    ]);
    const foreign = named.filter(([, command = '']) => {
      const [program, name = '', ...others] = command.split(' ');
      return program !== 'zlb-exporter' || !Object.hasOwn(commands, name) || others.length > 0;
    });

    expect(foreign.map(([, command]) => command)).toEqual([]);
  });

  it('is tested under an existing name', () => {
    const named = queries.flatMap(({ expr }) => [...expr.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name));
    const tested = [...cases.map(({ alertname }) => alertname), ...named];

    expect(tested.filter((name) => !alertNames.includes(name))).toEqual([]);
  });

  it.each(alerts)('$alert ($labels.severity) has a severity, texts, a runbook and a dashboard', (rule) => {
    const { alert, labels = {}, annotations = {} } = rule;

    expect(['critical', 'warning', 'info', ...(alert === 'ZlbWatchdog' ? ['none'] : [])]).toContain(labels['severity']);
    expect(annotations['summary'], 'of labels alone, so that it does not change while it fires').toMatch(
      /^(?:[^{}$]+\.|\{\{ if \$labels\.\w+ \}\}[^{}$]+\.\{\{ else \}\}[^{}$]+\.\{\{ end \}\})$/,
    );
    expect(annotations['description']).toMatch(/[.?}]$/);
    expect(annotations['runbook_url']).toMatch(
      new RegExp(String.raw`^https://runbooks\.example/runbooks(\?[\w={}$. |&]+)?#${alert.toLowerCase()}$`),
    );
    expect(annotations['page_url']).toMatch(/^https:\/\/runbooks\.example\/(\?\S.*)?$/);
    expect(runbooks).toContain(`\n### ${alert}\n`);
    const board = /^https:\/\/grafana\.example\/d\/([\w-]+)(\?var-appliance=\S.*)?$/.exec(
      annotations['dashboard_url'] ?? '',
    );
    expect(dashboards, `the dashboard of ${annotations['dashboard_url']}`).toContain(board?.[1]);
  });
});

// Names and labels come from the exporter itself. A case for promtool finds a wrong one only where it
// needs that branch, and pint only in a Prometheus that has every series.
describe.each(Object.entries(labellings))('the alert rules with %s', (_, labelling) => {
  it('use only served series, labels and states, and join only matching ones', async () => {
    const known = await knownSeries(labelling);
    const flows = shippedRules.flatMap((rule) =>
      expressionsOf(rule).map((expr) => ({ name: rule.alert ?? rule.record, expr, ...labelFlow(expr, known) })),
    );
    const wrong = flows.flatMap(({ name, complaints }) => complaints.map((complaint) => `${name}: ${complaint}`));
    const withoutResult = flows.filter(({ expr, forms }) => forms.length === 0 && selectorsOf(expr).length > 0);

    expect(wrong).toEqual([]);
    expect(withoutResult.map(({ name }) => name)).toEqual([]);
  });
});

it.each([
  ['zlb_upp', 'zlb_upp: no such metric'],
  ['zlb_up{farm="shop"}', 'zlb_up has no label farm'],
  ['zlb_farm_status{status="dwon"}', 'zlb_farm_status is never status="dwon"'],
  ['sum without (state) (zlb_farm_status)', 'without (state): no such label there'],
  ['zlb_farm_status == 1 and zlb_up', 'cannot match: zlb_farm_status == 1 and zlb_up'],
  ['zlb_farm_status and ignoring (farm) zlb_up', 'cannot match: zlb_farm_status and ignoring (farm) zlb_up'],
  ['zlb_farm_status and ignoring (farm, status) zlb_up', undefined],
])('the checker reports of the expression %s: %s', async (expression, complaint) => {
  expect(labelFlow(expression, await knownSeries()).complaints).toEqual(complaint ? [complaint] : []);
});

it.skipIf(!isThere('promtool'))('promtool parses every rule and every alert text, and finds no duplicate', () => {
  const files = ruleFiles.map((name) => `alerts/${name}`);
  const { status, stdout, stderr } = feed(
    'promtool',
    ['check', 'rules', '--lint=all', '--lint-fatal', ...files],
    Buffer.of(),
  );

  expect(status, stdout.toString() + stderr).toBe(0);
});

describe('the three rule files', () => {
  const [core = [], extended = [], requests = []] = shippedFiles;

  it('contain at most 15 alerts that need an action, 25 others without a page, and 6 on requests', () => {
    const namesIn = (groups: readonly RuleGroup[]) => new Set(alertsIn(groups).map(({ alert }) => alert)).size;
    expect(namesIn(core)).toBeLessThanOrEqual(15);
    expect(namesIn(extended)).toBeLessThanOrEqual(25);
    expect(namesIn(requests)).toBeLessThanOrEqual(6);
    expect(alertsIn(core).filter(({ labels }) => labels?.['severity'] === 'info')).toEqual([]);
    expect(alertsIn(extended).filter(({ labels }) => labels?.['severity'] === 'critical')).toEqual([]);
  });

  it('page about the monitoring itself only for an exporter that is not scraped', () => {
    const pages = alertsIn(core).filter(({ labels }) => labels?.['severity'] === 'critical');
    const withoutReading = pages.filter(({ annotations }) => annotations?.['reading'] === undefined);

    expect(withoutReading.map(({ alert }) => alert)).toEqual(['ZlbExporterDown']);
  });

  it('define each alert once, and have no rule that reads alerts', () => {
    const namesByFile = shippedFiles.flatMap((file) => [...new Set(alertsIn(file).map(({ alert }) => alert))]);
    const readers = shippedRules.filter(({ expr }) => selectorsOf(expr).some(({ metric }) => metric === 'ALERTS'));

    expect(namesByFile).toHaveLength(alertNames.length);
    expect(readers.map(({ alert, record }) => alert ?? record)).toEqual([]);
  });

  it.each([
    ['core', core],
    ['extended', extended],
    ['changes', requests],
  ])('read only what the core rules or they themselves record: %s', (_, file) => {
    const rules = [...core, ...file].flatMap((group) => group.rules);
    const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
    const read = file.flatMap((group) => group.rules).flatMap(({ expr }) => selectorsOf(expr));

    expect(read.filter(({ metric }) => metric.includes(':') && !recorded.has(metric))).toEqual([]);
  });
});
