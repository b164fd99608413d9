import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { knownSeries } from '../support/known-series.ts';
import { feed, isThere } from '../support/programs.ts';
import { selectorsOf } from '../support/promql.ts';
import { complaintsAbout } from '../support/query-complaints.ts';
import { alertNames, type RuleGroup, shippedFiles, shippedRules } from '../support/shipped-rules.ts';

interface AlertCase {
  readonly alertname: string;
  readonly exp_alerts?: readonly { readonly exp_labels?: unknown; readonly exp_annotations?: unknown }[];
}

const root = new URL('../../', import.meta.url);
const pathOf = (file: string): string => fileURLToPath(new URL(file, root));
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const alertsIn = (groups: readonly RuleGroup[]) =>
  groups
    .flatMap(({ rules }) => rules)
    .flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const alerts = alertsIn(shippedFiles.flat());
const testFiles = readdirSync(new URL('alerts/tests/', root))
  .filter((file) => file.endsWith('.test.yml'))
  .map((file) => `alerts/tests/${file}`);
const dashboards = readdirSync(new URL('dashboards/', root))
  .filter((file) => file.endsWith('.json'))
  .map((file) => (JSON.parse(read(`dashboards/${file}`)) as { uid: string }).uid);

describe.skipIf(!isThere('promtool'))('the rules, as promtool sees them', () => {
  it('are rules that Prometheus can load', () => {
    const files = ruleFiles.map((name) => pathOf(`alerts/${name}`));
    expect(feed('promtool', ['check', 'rules', ...files], Buffer.of())).toMatchObject({ status: 0 });
  });

  it.each(testFiles)(
    'behave as %s says',
    (file) => {
      const { status, stdout, stderr } = feed('promtool', ['test', 'rules', pathOf(file)], Buffer.of());
      expect(status, stdout.toString() + stderr).toBe(0);
    },
    180_000,
  );
});

describe('every alert', () => {
  const cases = testFiles.flatMap((file) =>
    (parse(read(file)) as { tests: readonly { alert_rule_test?: readonly AlertCase[] }[] }).tests.flatMap(
      (test) => test.alert_rule_test ?? [],
    ),
  );
  const runbooks = read('docs/operations.md');

  it.each(alertNames)('%s has a case in which it fires, with its words, and one in which it does not', (name) => {
    const own = cases.filter(({ alertname }) => alertname === name);
    const firing = own.flatMap(({ exp_alerts = [] }) => exp_alerts);

    expect(firing.length, 'cases in which it fires').toBeGreaterThan(0);
    expect(
      firing.some((alert) => alert.exp_annotations),
      'a case that knows its annotations',
    ).toBe(true);
    expect(
      own.some(({ exp_alerts = [] }) => exp_alerts.length === 0),
      'a case in which it does not fire',
    ).toBe(true);
  });

  it('is tested under a name that exists', () => {
    expect(cases.map(({ alertname }) => alertname).filter((name) => !alertNames.includes(name))).toEqual([]);
  });

  it.each(alerts)('$alert ($labels.severity) has a severity, words, a runbook and a dashboard', (rule) => {
    const { alert, labels = {}, annotations = {} } = rule;

    expect(['critical', 'warning', 'info', ...(alert === 'ZlbWatchdog' ? ['none'] : [])]).toContain(labels['severity']);
    expect(annotations['summary'], 'static, so that it does not change while it fires').toMatch(/^[^{}$]+\.$/);
    expect(annotations['description']).toMatch(/[.?}]$/);
    expect(annotations['runbook_url']).toBe(`https://runbooks.example/docs/operations.md#${alert.toLowerCase()}`);
    expect(runbooks).toContain(`\n### ${alert}\n`);
    const board = /^https:\/\/grafana\.example\/d\/([\w-]+)(\?var-appliance=\S.*)?$/.exec(
      annotations['dashboard_url'] ?? '',
    );
    expect(dashboards, `the dashboard of ${annotations['dashboard_url']}`).toContain(board?.[1]);
  });

  it('has a runbook that belongs to no alert of another name', () => {
    const headings = [...runbooks.matchAll(/^### (Zlb\w+)$/gm)].map(([, name]) => name);
    expect(new Set(headings)).toEqual(new Set(alertNames));
    expect(headings).toHaveLength(alertNames.length);
  });
});

// Any state shows that a farm was read; one of them does so at a seventh of the cost.
const carelessState =
  /(?<![(\w]|unless on \([\w, ]*\) (?=zlb_farm_status\{status="up"\}))(zlb_\w+_status\{[^}]*\})(?!\[)(?! == [01])/g;

describe('every expression', () => {
  it('names only series, labels and states that the exporter serves', async () => {
    const known = await knownSeries();
    const wrong = shippedRules.flatMap(({ alert, record, expr, annotations = {} }) =>
      [expr, ...Object.values(annotations).flatMap(queriesIn)].flatMap((expression) =>
        complaintsAbout(expression, known).map((complaint) => `${alert ?? record}: ${complaint}`),
      ),
    );

    expect(wrong).toEqual([]);
  });

  it('reads a state set only for a state that holds, as a change or a count, or to see whether it is there', () => {
    const careless = shippedRules.flatMap(({ alert, record, expr }) =>
      [...expr.matchAll(carelessState)].map(([, selector]) => `${alert ?? record}: ${selector}`),
    );

    expect(careless).toEqual([]);
  });
});

describe('the two files', () => {
  const [core = [], extended = []] = shippedFiles;

  it('have at most 18 alerts that somebody has to act on, and the others, none of which is a page', () => {
    expect(alertsIn(core).length).toBeLessThanOrEqual(18);
    expect(alertsIn(core).filter(({ labels }) => labels?.['severity'] === 'info')).toEqual([]);
    expect(alertsIn(extended).filter(({ labels }) => labels?.['severity'] === 'critical')).toEqual([]);
  });

  it('have a page about the monitoring itself only for an exporter that is not scraped', () => {
    const pages = alertsIn(core).filter(({ labels }) => labels?.['severity'] === 'critical');
    const withoutReading = pages.filter(({ annotations }) => annotations?.['reading'] === undefined);

    expect(withoutReading.map(({ alert }) => alert)).toEqual(['ZlbExporterDown']);
  });

  it('have no alert twice, no recording that reads itself, and no rule that reads alerts', () => {
    expect(alerts).toHaveLength(alertNames.length);
    for (const { alert, record, expr } of shippedRules) {
      const read = selectorsOf(expr).map(({ metric }) => metric);
      expect(read, alert ?? record).not.toContain(record);
      expect(read, alert ?? record).not.toContain('ALERTS');
    }
  });

  it('name each recording level:metric:operation', () => {
    const recordings = shippedRules.flatMap(({ record }) => record ?? []);

    expect(recordings.filter((name) => !/^[a-z]+:zlb_\w+:[a-z0-9]+$/.test(name))).toEqual([]);
  });

  it('read only what the core records, outside of the extended file', () => {
    const recorded = new Set(core.flatMap(({ rules }) => rules.flatMap(({ record }) => record ?? [])));
    const read = core.flatMap(({ rules }) =>
      rules.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric)),
    );

    expect(read.filter((metric) => metric.includes(':') && !recorded.has(metric))).toEqual([]);
  });
});

/** The queries with which an annotation fills itself in. */
function queriesIn(annotation: string): readonly string[] {
  return [...annotation.matchAll(/query \(printf "([^"]+)"/g)].map(([, format = '']) => format.replaceAll('%q', '"x"'));
}
