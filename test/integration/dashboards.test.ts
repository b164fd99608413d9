import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { describe, expect, it } from 'vitest';
import { dashboardFiles, importFiles } from '../../scripts/generate-dashboards.ts';
import { givenFolder } from '../support/folder.ts';
import {
  dashboardTexts,
  everythingOn,
  filled,
  type Panel,
  panelsOf,
  queriesOf,
  readBoards,
  variablesOf,
} from '../support/dashboards.ts';
import { knownSeries, labellings } from '../support/known-series.ts';
import { labelFlow } from '../support/label-flow.ts';
import { feed, isThere } from '../support/programs.ts';
import { selectorsOf } from '../support/promql.ts';

const boards = readBoards();
const uids = ['zlb-admin', 'zlb-appliance', 'zlb-certificates', 'zlb-exporter', 'zlb-farm', 'zlb-fleet'];
const everyPanel = boards.flatMap((board) =>
  panelsOf(board).map((panel) => ({ where: `${board.uid} / ${panel.title}`, board, panel })),
);
const everyQuery = boards.flatMap(queriesOf);
const known = await knownSeries();
const problemsIn = (where: string, problems: readonly string[]) => problems.map((problem) => `${where}: ${problem}`);

describe('the files in dashboards/', () => {
  it('are the six boards that alerts link to, as `npm run dashboards` writes them', () => {
    expect(boards.map(({ uid }) => uid).sort()).toEqual(uids);
    expect(Object.fromEntries(dashboardTexts())).toEqual(Object.fromEntries(dashboardFiles()));
  });

  it('have an import version beside them, which asks once for the data source', () => {
    const folder = new URL('../../deploy/grafana/import/', import.meta.url);
    const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));

    expect(Object.fromEntries(texts)).toEqual(Object.fromEntries(importFiles()));
    for (const text of texts.values()) {
      expect(text).not.toContain('${datasource}');
      expect(JSON.parse(text)).toMatchObject({ id: null, __inputs: [{ name: 'DS_PROMETHEUS', type: 'datasource' }] });
    }
  });
});

describe('the panels of every board', () => {
  it('have a description, a unit that Grafana knows and the chosen data source', () => {
    const chosen = { type: 'prometheus', uid: '${datasource}' };
    const problems = everyPanel.flatMap(({ where, panel }) =>
      problemsIn(where, [
        ...(panel.description.length > 20 ? [] : ['no description']),
        ...((Object.values(units) as string[]).includes(panel.fieldConfig.defaults.unit) ? [] : ['no known unit']),
        ...[panel, ...panel.targets].flatMap(({ datasource }) =>
          isDeepStrictEqual(datasource, chosen) ? [] : ['another data source'],
        ),
      ]),
    );

    expect(problems).toEqual([]);
  });

  it('have a unique number and a unique name', () => {
    for (const board of boards) {
      const ids = everythingOn(board).map(({ id }) => id);
      expect(new Set(ids).size, board.uid).toBe(ids.length);
      const titles = everythingOn(board).map(({ title }) => title);
      expect(new Set(titles).size, board.uid).toBe(titles.length);
    }
  });

  it('do not overlap, and fill their rows without gaps', () => {
    for (const board of boards) {
      const cells = everythingOn(board).flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, cell) => ({ x: x + (cell % w), y: y + Math.floor(cell / w) })),
      );
      const rightOfTheBoard = cells.filter(({ x }) => x > 23);
      expect(rightOfTheBoard, board.uid).toEqual([]);
      expect(new Set(cells.map(({ x, y }) => `${x} ${y}`)).size, board.uid).toBe(cells.length);
      expect(cells.length, board.uid).toBe(24 * (Math.max(...cells.map(({ y }) => y)) + 1));
    }
  });
});

describe('the queries of every board', () => {
  // Behind a proxy, Grafana sends a query as a part of an address; many accept 8 KiB at most.
  it('fit into a URL', () => {
    const long = everyQuery.filter(({ expr }) => encodeURIComponent(expr).length >= 4_096);

    expect(long.map(({ where }) => where)).toEqual([]);
  });

  it.each(Object.entries(labellings))(
    'use only served metrics, labels and states, and join only matching ones, with %s',
    async (_, labelling) => {
      const served = await knownSeries(labelling);
      const complaints = everyQuery.flatMap(({ where, expr }) =>
        problemsIn(where, labelFlow(filled(expr), served).complaints),
      );

      expect(complaints).toEqual([]);
    },
  );

  it('filter by what the variables select', () => {
    const open = everyQuery.flatMap(({ where, expr }) => problemsIn(where, unchosenIn(where, expr)));

    expect(open).toEqual([]);
  });

  it('use no variable that their board lacks', () => {
    for (const board of boards) {
      const there = board.templating.list.map(({ name }) => name);
      for (const { where, expr } of queriesOf(board))
        for (const [, name] of expr.matchAll(/\$([a-z]\w*)/g)) expect(there, where).toContain(name);
    }
  });

  it('fill variables from a label that the metric has', () => {
    for (const { selector, label } of boards.flatMap(variablesOf)) {
      const [series] = selectorsOf(filled(selector));
      expect(known.get(series?.metric ?? '')?.labels, selector).toContain(label);
    }
  });
});

/** Returns the variables that a query does not ask for, though its metrics have their labels. */
function unchosenIn(where: string, expr: string): readonly string[] {
  // Alerts that are taken away from chosen ones need no choice.
  const chosenPart = expr.replace(/ unless \((?:ALERTS\{[^}]*\} and on \([^)]*\) ALERTS\{[^}]*\}(?: or )?)+\)/, '');
  const query = filled(chosenPart, { job: 'chosen', site: 'chosen', appliance: 'chosen' });
  return selectorsOf(query).flatMap(({ metric, matchers }) => {
    const chosen = matchers.filter(({ value }) => /^chosen\|?$/.test(value)).map(({ label }) => label);
    const ofAppliance = known.get(metric)?.labels.has('appliance') ?? false;
    // The job is chosen first, then the site, then the appliance.
    const needed = [
      ...(where.endsWith('variable job') ? [] : ['job']),
      ...(ofAppliance && !where.endsWith('variable site') ? ['site'] : []),
      ...(ofAppliance && !/variable (appliance|site)$/.test(where) ? ['appliance'] : []),
    ];
    return needed.filter((label) => !chosen.includes(label)).map((label) => `${metric}: ${label}`);
  });
}

describe('the tables of every board', () => {
  const tables = everyPanel.filter(({ panel }) => panel.type === 'table');

  it('show only columns that their queries return, and are sorted by one of them', () => {
    for (const { where, panel } of tables) {
      const given = columnsGiven(panel);
      const shown = panel.fieldConfig.overrides.map(({ matcher }) => matcher.options);
      const titles = panel.fieldConfig.overrides.flatMap(({ properties }) =>
        properties.filter(({ id }) => id === 'displayName').map(({ value }) => value),
      );
      const missing = shown.filter((name) => !given.has(name));
      expect(missing, where).toEqual([]);
      const filter = panel.transformations?.find(({ id }) => id === 'filterFieldsByName');
      expect(filter?.options, where).toEqual({ include: { names: shown } });
      for (const { displayName } of panel.options.sortBy ?? []) expect(titles, where).toContain(displayName);
      expect(panel.options, where).toMatchObject({ enablePagination: true, footer: { enablePagination: true } });
    }
  });

  it('link their rows to existing boards and variables, by columns that they have', () => {
    const links = tables.flatMap(({ where, panel }) =>
      panel.fieldConfig.overrides.flatMap(({ properties }) =>
        properties
          .filter(({ id }) => id === 'links')
          .flatMap(({ value }) => value as readonly { readonly url: string }[])
          .map(({ url }) => ({ where, url, panel })),
      ),
    );
    const [toRunbooks = [], toBoards = []] = [true, false].map((isRunbook) =>
      links.filter(({ url }) => isRunbook === url.startsWith('https://runbooks.example/')),
    );

    expect(links.length).toBeGreaterThan(10);
    expect(new Set(toRunbooks.map(({ url }) => url))).toEqual(
      new Set([
        'https://runbooks.example/runbooks/${__data.fields.alertname}?appliance=${__data.fields.appliance}&farm=${__data.fields.farm}',
      ]),
    );
    for (const { where, url, panel } of toBoards) {
      const target = boards.find(({ uid }) => url.startsWith(`/d/${uid}?`));
      expect(target, `${where}: ${url}`).toBeDefined();
      for (const [, variable, column] of url.matchAll(/var-(\w+)=\$\{__data\.fields\.(\w+)\}/g)) {
        expect(target?.templating.list.map(({ name }) => name)).toContain(variable);
        expect(columnsGiven(panel)).toContain(column);
      }
    }
  });
});

describe.skipIf(!isThere('promtool'))('the table of firing alerts', () => {
  const exporter = 'job="zlb", instance="exporter:9444"';
  const watched = [
    { series: `up{${exporter}}`, values: '1' },
    { series: 'ALERTS{alertname="ZlbWatchdog", alertstate="firing", severity="none"}', values: '1' },
  ];
  const firing = (severity: string, labels: string) => ({
    series: `ALERTS{alertstate="firing", severity="${severity}", ${exporter}, ${labels}}`,
    values: '1',
  });

  it('names the subject of each alert, and distinguishes two alerts of one kind', () => {
    const alerts = [
      firing('warning', 'alertname="ZlbFarmDegraded", appliance="lb", farm="shop", service="app"'),
      firing('warning', 'alertname="ZlbFarmDegraded", appliance="lb", farm="shop", service="static"'),
      firing('warning', 'alertname="ZlbBackendDown", appliance="lb", farm="shop", service="app", backend="2"'),
      firing('warning', 'alertname="ZlbBackendDown", appliance="lb", farm="db", service="", backend="3"'),
      firing('warning', 'alertname="ZlbInterfaceDown", appliance="lb", interface="eth1"'),
      firing('warning', 'alertname="ZlbVpnDown", appliance="lb", vpn="branch"'),
      firing('warning', 'alertname="ZlbClusterNodeDown", appliance="lb", node="lb-2", role="backup"'),
      firing('critical', 'alertname="ZlbCertificateExpiryImminent", appliance="lb", file="www.pem"'),
      firing('warning', 'alertname="ZlbServedCertificateDiffers", appliance="lb", farm="shop", server_name="a.test"'),
      firing('warning', 'alertname="ZlbCollectorStale", appliance="lb", collector="farms"'),
      firing('warning', 'alertname="ZlbApplianceUnreachable", appliance="away"'),
      firing('warning', 'alertname="ZlbCollectorStale", appliance="away", collector="farms"'),
      firing('critical', 'alertname="ZlbFarmDown", appliance="away", farm="shop", status="down"'),
      firing('critical', 'alertname="ZlbFarmDown", appliance="lb", farm="shop", status="down"'),
      firing('info', 'alertname="ZlbAdminGateway", principal="deploy"'),
    ];

    expectRows(
      [...watched, ...alerts],
      [
        [2, 'ZlbFarmDegraded lb shop: app'],
        [2, 'ZlbFarmDegraded lb shop: static'],
        [2, 'ZlbBackendDown lb shop: app 2'],
        [2, 'ZlbBackendDown lb db: 3'],
        [2, 'ZlbInterfaceDown lb: eth1'],
        [2, 'ZlbVpnDown lb: branch'],
        [2, 'ZlbClusterNodeDown lb: lb-2'],
        [3, 'ZlbCertificateExpiryImminent lb: www.pem'],
        [2, 'ZlbServedCertificateDiffers lb shop: a.test'],
        [2, 'ZlbCollectorStale lb: farms'],
        [2, 'ZlbApplianceUnreachable away'],
        [3, 'ZlbFarmDown away shop'],
        [3, 'ZlbFarmDown lb shop'],
        [1, 'ZlbAdminGateway: exporter:9444 deploy'],
      ],
    );
  });

  it('is empty while the rules are loaded and no alert fires', () => {
    expectRows(watched, []);
  });

  it('says that nothing is scraped, that an exporter does not respond, or that no rules are loaded', () => {
    expectRows([], [[3, 'no exporter is scraped: nothing is known']]);
    expectRows(
      [{ series: `up{${exporter}}`, values: '0' }],
      [[3, 'the exporter does not answer: nothing is known: exporter:9444']],
    );
    expectRows(watched.slice(0, 1), [[2, 'no rules are loaded: no alert can fire']]);
  });
});

describe.skipIf(!isThere('promtool'))('the annotations of configuration changes', () => {
  const place = 'job="zlb", instance="exporter:9444", appliance="lb"';
  const marksOf = (uid: string) =>
    boards.find((board) => board.uid === uid)?.annotations.list.find(({ name }) => name === 'Configuration changes');
  const counted = (object: string, values: string) => ({
    series: `zlb_configuration_changes_total{${place}, object="${object}", by="elsewhere"}`,
    values,
  });

  it.each(['zlb-fleet', 'zlb-appliance'])(
    'mark on %s the times when the count rose, and link to the timeline',
    (uid) => {
      const marks = marksOf(uid);
      const input = [counted('backend', '0 0 2 2 0 0'), counted('farm', '3 3 3 3 0 1')];
      const labels = (object: string) => `{appliance="lb", object="${object}", by="elsewhere"}`;
      const expected = [
        [],
        [],
        [{ labels: labels('backend'), value: 2 }],
        [],
        [],
        [{ labels: labels('farm'), value: 1 }],
      ];

      expectSamples(marks?.expr, input, expected);
      expect(marks).toMatchObject({
        textFormat: expect.stringContaining('href="https://runbooks.example/?list=changes&appliance={{appliance}}"'),
      });
    },
  );

  it('mark on zlb-farm the last change of each farm', () => {
    const marks = marksOf('zlb-farm');
    const series = `zlb_farm_configuration_changed_timestamp_seconds{${place}, farm="shop"}`;

    expectSamples(
      marks?.expr,
      [{ series, values: '1700' }],
      [[{ labels: '{appliance="lb", farm="shop"}', value: 1_700_000 }]],
    );
    expect(marks).toMatchObject({ useValueForTime: true, textFormat: expect.stringContaining('&farm={{farm}}"') });
  });
});

/**
 * Compares the rows of the fleet's table with `ALERT [APPLIANCE [FARM]][: OBJECT]`, evaluated by
 * promtool.
 */
function expectRows(series: readonly object[], rows: readonly (readonly [severity: number, row: string])[]): void {
  const fleet = boards.find(({ uid }) => uid === 'zlb-fleet');
  const [target] = fleet ? (panelsOf(fleet)[0]?.targets ?? []) : [];
  const samples = rows.map(([value, row]) => {
    const [, alertname, appliance = '', farm = '', object = ''] =
      /^(Zlb\w+|[^:]+: nothing is known|[^:]+: no alert can fire)(?: (\w+))?(?: (\w+))?(?:: (.+))?$/.exec(row) ?? [];
    const labels = Object.entries({ alertname, appliance, farm, object });
    return {
      labels: `{${labels.flatMap(([name, text]) => (text ? `${name}="${text}"` : [])).join(', ')}}`,
      value,
    };
  });
  expectSamples(target?.expr, series, [samples]);
}

/** Compares an expression, minute by minute, with its samples, evaluated by promtool. */
function expectSamples(expr = '', series: readonly object[], samples: readonly (readonly object[])[]): void {
  const promql_expr_test = samples.map((exp_samples, minute) => ({
    expr: filled(expr),
    eval_time: `${minute}m`,
    exp_samples,
  }));
  const test = { tests: [{ interval: '1m', input_series: series, promql_expr_test }] };
  const folder = givenFolder();
  const file = join(folder, 'alerts.test.json');
  writeFileSync(file, JSON.stringify(test));
  const { status, stdout, stderr } = feed('promtool', ['test', 'rules', file], Buffer.of());

  expect(status, stdout.toString() + stderr).toBe(0);
}

/**
 * Labels that the queries of a table leave, and their values under the names that Grafana gives
 * them.
 */
function columnsGiven(panel: Panel): ReadonlySet<string> {
  const values = panel.targets.map(({ refId }) => (panel.targets.length === 1 ? 'Value' : `Value #${refId}`));
  const labels = panel.targets.flatMap(({ expr }) => labelFlow(filled(expr), known).forms.flatMap((form) => [...form]));
  return new Set([...values, ...labels]);
}
