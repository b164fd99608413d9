import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { knownSeries } from '../support/known-series.ts';
import { feed, isThere } from '../support/programs.ts';
import { selectorsOf } from '../support/promql.ts';
import { complaintsAbout } from '../support/query-complaints.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string | number;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface AlertCase {
  readonly alertname: string;
  readonly exp_alerts?: readonly { readonly exp_labels?: unknown; readonly exp_annotations?: unknown }[];
}

const root = new URL('../../', import.meta.url);
const pathOf = (file: string): string => fileURLToPath(new URL(file, root));
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const rulesFile = 'alerts/zlb.rules.yml';
const { groups } = parse(read(rulesFile)) as { groups: readonly { name: string; rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const names = [...new Set(alerts.map(({ alert }) => alert))];
const testFiles = readdirSync(new URL('alerts/tests/', root))
  .filter((file) => file.endsWith('.test.yml'))
  .map((file) => `alerts/tests/${file}`);
const dashboards = readdirSync(new URL('dashboards/', root))
  .filter((file) => file.endsWith('.json'))
  .map((file) => (JSON.parse(read(`dashboards/${file}`)) as { uid: string }).uid);

describe.skipIf(!isThere('promtool'))('the rules, as promtool sees them', () => {
  it('are rules that Prometheus can load', () => {
    expect(feed('promtool', ['check', 'rules', pathOf(rulesFile)], Buffer.of())).toMatchObject({ status: 0 });
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

  it.each(names)('%s has a case in which it fires, with its words, and one in which it does not', (name) => {
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
    expect(cases.map(({ alertname }) => alertname).filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(alerts)('$alert ($labels.severity) has a severity, words, a runbook and a dashboard', (rule) => {
    const { alert, labels = {}, annotations = {} } = rule;

    expect(['critical', 'warning', 'info', ...(alert === 'ZlbWatchdog' ? ['none'] : [])]).toContain(labels['severity']);
    expect(annotations['summary']).toMatch(/\w/);
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
    expect(headings).toEqual(names);
  });
});

describe('the table of the runbooks', () => {
  it('says of every alert how urgent it is and how long it waits', () => {
    const runbooks = read('docs/operations.md');
    const told = [...runbooks.matchAll(/^\| \[(Zlb\w+)\]\(#(\w+)\) \| ([^|]+) \| ([^|]+) \|/gm)].map(
      ([, name, anchor, severity, wait]) => ({ name, anchor, severity, wait }),
    );
    const real = names.map((name) => {
      const own = alerts.filter(({ alert }) => alert === name);
      const [first, unused] = own.map(({ labels }) => labels?.['severity']);
      return {
        name,
        anchor: name.toLowerCase(),
        severity: unused === undefined ? first : `${first}, unused ${unused}`,
        wait: own[0]?.for ?? '–',
      };
    });

    expect(told).toEqual(real);
  });
});

// That a farm was read at all is told by any of its states, and by one of them at a seventh of the cost.
const carelessState =
  /(?<![(\w]|unless on \([\w, ]*\) (?=zlb_farm_status\{status="up"\}))(zlb_\w+_status\{[^}]*\})(?!\[)(?! == [01])/g;

describe('every expression', () => {
  it('names only series, labels and states that the exporter serves', async () => {
    const known = await knownSeries();
    const wrong = rules.flatMap(({ alert, record, expr, annotations = {} }) =>
      [`${expr}`, ...Object.values(annotations).flatMap(queriesIn)].flatMap((expression) =>
        complaintsAbout(expression, known).map((complaint) => `${alert ?? record}: ${complaint}`),
      ),
    );

    expect(wrong).toEqual([]);
  });

  it('reads a state set only for a state that holds, as a change or a count, or to see whether it is there', () => {
    const careless = rules.flatMap(({ alert, record, expr }) =>
      [...`${expr}`.matchAll(carelessState)].map(([, selector]) => `${alert ?? record}: ${selector}`),
    );

    expect(careless).toEqual([]);
  });
});

describe('the thresholds', () => {
  const made = rules.filter(({ record }) => record === 'zlb:threshold').map(({ labels }) => labels?.['name'] ?? '');

  it('are each used, and each use is of one that exists', () => {
    const used = rules.flatMap(({ expr }) =>
      selectorsOf(`${expr}`)
        .filter(({ metric }) => metric === 'zlb:threshold')
        .flatMap(({ matchers }) => matchers.filter(({ op }) => op === '=').map(({ value }) => value)),
    );

    expect([...new Set(used)].sort()).toEqual([...made].sort());
  });

  it('are counted by ZlbThresholdsUnusable as many as they are', () => {
    const watching = alerts.find(({ alert }) => alert === 'ZlbThresholdsUnusable');

    expect(`${watching?.expr}`).toMatch(new RegExp(` < ${made.length}$`));
    expect(watching?.annotations?.['description']).toContain(`each of the ${made.length} thresholds`);
  });
});

/** The queries with which an annotation fills itself in. */
function queriesIn(annotation: string): readonly string[] {
  return [...annotation.matchAll(/query \(printf "([^"]+)"/g)].map(([, format = '']) => format.replaceAll('%q', '"x"'));
}
