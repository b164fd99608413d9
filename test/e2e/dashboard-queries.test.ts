import { describe, expect, it } from 'vitest';
import { filled, panelsOf, queriesOf, readBoards } from '../support/dashboards.ts';
import { knownSeries } from '../support/known-series.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { type StartedProcess, startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { shippedText } from '../support/shipped-rules.ts';
import { untilAllRead } from '../support/all-read.ts';
import { until } from '../support/until.ts';

/**
 * The queries that have nothing to show in this scene, and why. The list is held to be true: what
 * gives data must not be on it.
 */
const empty: Readonly<Record<string, string>> = {
  'zlb-appliance / VPNs / A': 'no simulated appliance has a VPN',
  'zlb-certificates / Gone since yesterday / A': 'this Prometheus was not there yesterday',
  'zlb-farm / Failed probes / A': 'all farms of the demonstration can be reached',
  'zlb-exporter / Changes over / A': 'nobody asks for a change',
  ...Object.fromEntries(
    readBoards().map(({ uid }) => [`${uid} / annotation New versions`, 'no appliance was upgraded during the test']),
  ),
};

const boards = readBoards();
/** The window of objectives: each fifth minute of the clock, of which this scene may have none. */
const month = '[30d:5m]';
/** All groups as often as the scrape, and no alert waits. */
const rules = shippedText.replaceAll(/^( +for:) .*$/gm, '$1 0s').replaceAll(/^( +interval:) .*$/gm, '$1 1s');

describe.skipIf(!isThere('prometheus'))('every query of every board on a real Prometheus', () => {
  it('is valid and returns data, or is listed as empty in this scene', async () => {
    const prometheus = await givenScene();

    const gave = new Map<string, readonly Labels[]>();
    for (const { where, expr, kind } of boards.flatMap(queriesOf)) {
      const now = Date.now() / 1_000;
      const query = filled(expr).replaceAll(month, '[2m:1s]');
      const series =
        kind === 'instant' || kind === 'variable'
          ? await prometheus.query(query)
          : await prometheus.queryRange(query, { start: now - 120, end: now, step: 2 });
      gave.set(
        where,
        series.map(({ metric }) => metric),
      );
    }

    const silent = [...gave].filter(([, series]) => series.length === 0).map(([where]) => where);
    expect(silent.sort()).toEqual(Object.keys(empty).sort());
    expect(missingColumns(gave)).toEqual([]);
    expect(await strangers(await prometheus.query('{job="zlb"}'))).toEqual([]);
    console.log(`${gave.size} queries of ${boards.length} boards, ${gave.size - silent.length} with data`);
  });
});

type Labels = Readonly<Record<string, string>>;

/** Series, or labels of theirs, that the static tests of boards and alerts would not know. */
async function strangers(samples: readonly { readonly metric: Labels }[]): Promise<readonly string[]> {
  const known = await knownSeries();
  return samples
    .map(({ metric: { __name__: name = '', ...labels } }) => {
      const unknown = Object.keys(labels).filter((label) => !known.get(name)?.labels.has(label));
      return known.has(name) && unknown.length === 0 ? '' : `${name}{${unknown.join()}}`;
    })
    .filter((complaint, index, all) => complaint !== '' && all.indexOf(complaint) === index);
}

/** Columns of tables that no row has; alerts are left out, for each has other labels. */
function missingColumns(gave: ReadonlyMap<string, readonly Labels[]>): readonly string[] {
  return boards.flatMap(({ uid, ...board }) =>
    panelsOf({ uid, ...board })
      .filter(
        ({ type, title }) => type === 'table' && title !== 'What is wrong now' && !(`${uid} / ${title} / A` in empty),
      )
      .flatMap(({ title, targets, fieldConfig }) => {
        const labels = new Set(
          targets.flatMap(({ refId }) => gave.get(`${uid} / ${title} / ${refId}`) ?? []).flatMap(Object.keys),
        );
        return fieldConfig.overrides
          .map(({ matcher }) => matcher.options)
          .filter((name) => !name.startsWith('Value') && !labels.has(name))
          .map((name) => `${uid} / ${title}: ${name}`);
      }),
  );
}

/**
 * Prometheus on the demonstration, from its first moment on, after somebody has used the gateway
 * and alerts have begun to fire.
 */
async function givenScene() {
  const exporter = startExporter(['--web.listen-address=127.0.0.1:0']);
  const url = await exporter.url();
  const prometheus = await givenPrometheus(
    `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [zlb.rules.yml]
scrape_configs:
  - job_name: zlb
    static_configs: [{ targets: ['${new URL(url).host}'] }]
    # As in deploy/prometheus/prometheus.yml.
    metric_relabel_configs:
      - { source_labels: [appliance], regex: 'lb-([a-z]+).*', target_label: site, replacement: '$1' }
`,
    { 'zlb.rules.yml': rules },
  );
  const seen = (expression: string) =>
    until(
      () => prometheus.query(expression),
      (samples) => samples.length > 0,
    );
  await seen('zlb_backend_status{appliance="lb-madrid", farm="shop", service="front", status="up"} == 1');
  await untilAllRead(url);
  await seen('rate(zlb_requests_total{code=~"5.+", farm!="unknown"}[1m]) > 0');
  await useTheGateway(exporter);
  await seen('changes(zlb_backend_status{farm="shop", status="up"}[1m]) > 0');
  // As the boards mark them: more than a minute before.
  await seen(
    'zlb_configuration_changes_total{object="backend", by="gateway"} > zlb_configuration_changes_total offset 1m',
  );
  await seen('zlb_admin_frozen == 1');
  await seen('ALERTS{alertname="ZlbAdminGateway", alertstate="firing"}');
  // A deactivated appliance is not asked at each tick of a schedule.
  await seen('increase(zlb_collector_skipped_total[1m]) > 0');
  return prometheus;
}

/**
 * Causes some of everything that the gateway counts: a reading, changes, a missing confirmation, an
 * unknown token, a freeze.
 */
async function useTheGateway({ stdout }: StartedProcess): Promise<void> {
  const [, url, token] = /ZLB_ADMIN_URL=(\S+)\s+export ZLB_ADMIN_TOKEN=(\S+)/.exec(stdout()) ?? [];
  const call = async (method: string, path: string, body?: object, credentials = token) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${credentials}`,
        'x-reason': 'a test of the boards',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.status;
  };
  const farm = '/appliances/lb-madrid/farms/shop';
  expect(await call('GET', `${farm}/status`)).toBe(200);
  expect(await call('PUT', `${farm}/services/front/backends/0/maintenance`, { action: 'maintenance' })).toBe(200);
  expect(await call('PUT', `${farm}/services/front/backends/1`, { weight: 7 })).toBe(200);
  expect(await call('DELETE', farm)).toBe(428);
  // More than ten in a quarter of an hour are an alert.
  for (let time = 0; time < 12; time += 1) expect(await call('GET', '/appliances', undefined, 'nonsense')).toBe(401);
  expect(await call('PUT', '/freeze')).toBe(200);
}
