import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRuleFiles } from '../../scripts/rule-files.ts';
import { impatientRules, quickened } from '../../scripts/stack/configuration.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { givenDemonstration } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = !isThere('prometheus');

const demonstration = givenDemonstration();

// Every collector has had its turn.
beforeAll(async () => {
  await until(
    () => fetch(`${demonstration()}/-/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
});

describe.skipIf(missing)('real Prometheus', () => {
  it('scrapes /metrics, and /probe through /sd, completely and without a warning in its log', async () => {
    const url = demonstration();
    const { host } = new URL(url);
    const prometheus = await givenPrometheus(`
global: { scrape_interval: 5s, scrape_timeout: 5s }
scrape_configs:
  - job_name: whole
    static_configs: [{ targets: ['${host}'] }]
  - job_name: each
    http_sd_configs: [{ url: '${url}/sd', refresh_interval: 30s }]
`);

    const targets = await until(
      () => prometheus.query('count_over_time(up[1m]) > 1'),
      (seen) => seen.length === 6,
    );

    expect(targets.map(({ metric }) => `${metric['job']} ${metric['instance']}`).sort()).toEqual([
      'each lb-berlin',
      'each lb-lisbon',
      'each lb-madrid',
      'each lb-paris-1',
      'each lb-paris-2',
      `whole ${host}`,
    ]);
    await until(
      () => prometheus.query('up == 1'),
      (seen) => seen.length === 6,
    );
    const served = async () =>
      (await (await fetch(`${url}/metrics`)).text()).split('\n').filter((line) => /^[a-z]/.test(line)).length;
    // More is served while collectors have their first turn.
    await until(
      async () => {
        const [scraped] = await prometheus.query('scrape_samples_scraped{job="whole"}');
        const now = await served();
        return Math.abs((scraped?.value ?? 0) - now) / now;
      },
      (missing) => missing < 1 / 50,
    );
    await until(
      () => prometheus.query('count(zlb_farm_status{job="whole"}) == count(zlb_farm_status{job="each"})'),
      (alike) => alike.length === 1,
    );
    expect(await prometheus.query('sum by (appliance, farm) (zlb_farm_status{job="whole"}) != 1')).toEqual([]);
    expect(prometheus.log().filter((line) => /level=(warn|error)/.test(line))).toEqual([]);
  });
});

describe.skipIf(missing)('deploy/prometheus/by-appliance.yml', () => {
  it('puts the label site on every series and alert of an appliance, and has the exporter itself once', async () => {
    const url = demonstration();
    const shipped = quickened(readFileSync('deploy/prometheus/by-appliance.yml', 'utf8'));
    expect(shipped).toContain('rule_files: [../../alerts/zlb*.rules.yml]');
    const prometheus = await givenPrometheus(
      shipped.replaceAll('localhost:9444', new URL(url).host).replace('../../alerts/', ''),
      { 'zlb.rules.yml': impatientRules(readRuleFiles()) },
    );

    const sites = await until(
      () => prometheus.query('count by (appliance, site) (zlb_up)'),
      (seen) => seen.length === 5,
    );
    expect(sites.map(({ metric, value }) => `${metric['appliance']} ${metric['site']} ${value}`).sort()).toEqual([
      'lb-berlin berlin 1',
      'lb-lisbon lisbon 1',
      'lb-madrid madrid 1',
      'lb-paris-1 paris 1',
      'lb-paris-2 paris 1',
    ]);
    expect(
      await prometheus.query('count({appliance!="", site="", __name__=~"zlb_.+", __name__!~"zlb_admin.+"})'),
    ).toEqual([]);
    expect(await prometheus.query('{__name__=~"zlb_.+", exported_site!=""}'), 'each label once').toEqual([]);
    expect(await prometheus.query('count by (exporter) (zlb_appliance_info{site="paris"})')).toEqual([
      { metric: { exporter: new URL(url).host }, value: 2 },
    ]);
    const own = await until(
      () => prometheus.query('count by (job) ({__name__=~"zlb_exporter_build_info|process_start_time_seconds"})'),
      (seen) => seen.length > 0,
    );
    expect(own).toEqual([{ metric: { job: 'zlb-exporter' }, value: 2 }]);
    const alerts = await until(
      () => prometheus.alerts(),
      (seen) => seen.some(({ labels }) => labels['alertname'] === 'ZlbFarmDown'),
    );
    expect(alerts.filter(({ labels }) => labels['appliance'] !== undefined && labels['site'] === undefined)).toEqual(
      [],
    );
  });
});

describe.skipIf(missing)('promtool check metrics', () => {
  it.each(['/metrics', '/probe?target=lb-madrid'])('finds no fault in %s', async (path) => {
    const input = await (await fetch(`${demonstration()}${path}`)).text();

    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });

    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});
