import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { genSaltSync, hashSync } from 'bcryptjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRuleFiles } from '../../scripts/rule-files.ts';
import { impatientRules, quickened } from '../../scripts/stack/configuration.ts';
import { makeAuthority } from '../support/authority.ts';
import { givenFolder } from '../support/folder.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { givenDemonstration, startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = !isThere('prometheus');

const demonstration = givenDemonstration();

// Every collector has had its turn.
beforeAll(async () => {
  await until(
    () => fetch(`${demonstration.url()}/-/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
});

/** An exporter that asks for a client certificate and a password, and the block for Prometheus. */
async function givenSecuredExporter() {
  const folder = givenFolder();
  const authority = makeAuthority();
  const [server, client] = [authority.issue('IP:127.0.0.1'), authority.issue()];
  writeFileSync(join(folder, 'server.crt'), server.cert);
  writeFileSync(join(folder, 'server.key'), server.key);
  writeFileSync(join(folder, 'ca.crt'), authority.cert);
  const webFile = join(folder, 'web.yml');
  writeFileSync(
    webFile,
    `
tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
basic_auth_users: { prometheus: ${hashSync('secret', genSaltSync(4))} }
`,
  );
  const { stdout } = startExporter(['--web.listen-address=127.0.0.1:0', `--web.config.file=${webFile}`]);
  const printed = await until(
    () => /(https:\/\/\S+)\/metrics/.exec(stdout()),
    (found) => found !== null,
  );
  const access = [
    'tls_config: { ca_file: ca.crt, cert_file: client.crt, key_file: client.key }',
    'basic_auth: { username: prometheus, password: secret }',
  ];
  const files = { 'ca.crt': authority.cert, 'client.crt': client.cert, 'client.key': client.key };
  return { url: printed?.[1] ?? '', access, files };
}

describe.skipIf(missing)('real Prometheus', () => {
  it('scrapes /metrics and /probe completely and without a warning, over TLS with certificate and password', async () => {
    const url = demonstration.url();
    const { host } = new URL(url);
    const secured = await givenSecuredExporter();
    const prometheus = await givenPrometheus(
      `
global: { scrape_interval: 5s, scrape_timeout: 5s }
scrape_configs:
  - job_name: whole
    static_configs: [{ targets: ['${host}'] }]
  - job_name: each
    http_sd_configs: [{ url: '${url}/sd', refresh_interval: 30s }]
  - job_name: secured
    ${secured.access.join('\n    ')}
    http_sd_configs: [{ url: '${secured.url}/sd', refresh_interval: 30s, ${secured.access.join(', ')} }]
`,
      secured.files,
    );

    const targets = await until(
      () => prometheus.query('count_over_time(up[1m]) > 1'),
      (seen) => seen.length === 15,
    );

    expect(targets.map(({ metric }) => `${metric['job']} ${metric['instance']}`).sort()).toEqual([
      'each lb-berlin',
      'each lb-lisbon',
      'each lb-madrid',
      'each lb-paris-1',
      'each lb-paris-2',
      'each lb-porto',
      'each lb-sevilla',
      'secured lb-berlin',
      'secured lb-lisbon',
      'secured lb-madrid',
      'secured lb-paris-1',
      'secured lb-paris-2',
      'secured lb-porto',
      'secured lb-sevilla',
      `whole ${host}`,
    ]);
    await until(
      () => prometheus.query('up == 1'),
      (seen) => seen.length === 15,
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
  it('puts the label site on every series and alert of an appliance, and scrapes the exporter itself once', async () => {
    const url = demonstration.url();
    const shipped = quickened(readFileSync('deploy/prometheus/by-appliance.yml', 'utf8'));
    expect(shipped).toContain('rule_files: [../../alerts/zlb*.rules.yml]');
    const prometheus = await givenPrometheus(
      shipped.replaceAll('localhost:9444', new URL(url).host).replace('../../alerts/', ''),
      { 'zlb.rules.yml': impatientRules(readRuleFiles()) },
    );

    const sites = await until(
      () => prometheus.query('count by (appliance, site) (zlb_up)'),
      (seen) => seen.length === 7,
    );
    expect(sites.map(({ metric, value }) => `${metric['appliance']} ${metric['site']} ${value}`).sort()).toEqual([
      'lb-berlin berlin 1',
      'lb-lisbon lisbon 1',
      'lb-madrid madrid 1',
      'lb-paris-1 paris 1',
      'lb-paris-2 paris 1',
      'lb-porto porto 1',
      'lb-sevilla sevilla 1',
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
    const pages = await until(
      () => prometheus.query('farm:zlb_farm_status:page'),
      (seen) => seen.length > 0,
    );
    expect(pages.filter(({ metric }) => metric['site'] === undefined)).toEqual([]);
    const alerts = await prometheus.alerts();
    expect(alerts.filter(({ labels }) => labels['appliance'] !== undefined && labels['site'] === undefined)).toEqual(
      [],
    );
  });
});

describe.skipIf(missing)('promtool check metrics', () => {
  it.each(['/metrics', '/probe?target=lb-madrid'])('accepts %s', async (path) => {
    const input = await (await fetch(`${demonstration.url()}${path}`)).text();

    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });

    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });
});
