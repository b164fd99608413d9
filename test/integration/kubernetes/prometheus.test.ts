import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { adminMetricFamilies } from '../../../src/gateway/admin-metrics.ts';
import { collectorFamilies } from '../../../src/collectors/registry.ts';
import { createSelfMetrics } from '../../../src/metrics/self.ts';
import { ownFamilies } from '../../../src/poller/collector-statistics.ts';
import { prometheusRule } from '../../../scripts/generate-manifests.ts';
import { readRuleFiles } from '../../../scripts/rule-files.ts';
import { givenFolder } from '../../support/folder.ts';
import { knownSeries } from '../../support/known-series.ts';
import { onlyOf, readManifests } from '../../support/manifests.ts';
import { isThere } from '../../support/programs.ts';

const components = 'deploy/kubernetes/components';
const ruleFile = `${components}/prometheus-operator/prometheus-rule.yml`;

const plainFile = 'deploy/kubernetes/prometheus.yml';

/** As Prometheus takes an expression: from the beginning to the end. */
const whole = (regex: string | undefined): RegExp => new RegExp(`^(?:${regex})$`);

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string | number }[] }[];
}

/** With every expression as a text, which is what the Operator wants. */
function inWords({ groups }: Rules): Rules {
  const rulesOf = (group: Rules['groups'][number]) => group.rules.map((rule) => ({ ...rule, expr: String(rule.expr) }));
  return { groups: groups.map((group) => ({ ...group, rules: rulesOf(group) })) };
}

describe('the PrometheusRule', () => {
  it('is what `npm run manifests` makes of the rule files', () => {
    expect(readFileSync(ruleFile, 'utf8'), 'run `npm run manifests`').toBe(prometheusRule(readRuleFiles()));
  });

  it('has the same rules', () => {
    const { spec } = onlyOf(readManifests(ruleFile), 'PrometheusRule');

    expect(spec).toEqual(inWords({ groups: readRuleFiles().flatMap((text) => (parse(text) as Rules).groups) }));
  });

  it.skipIf(!isThere('promtool'))('is accepted by promtool', () => {
    const folder = givenFolder();
    const file = join(folder, 'rules.yml');
    writeFileSync(file, stringify(onlyOf(readManifests(ruleFile), 'PrometheusRule').spec));

    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
  });
});

describe('the ServiceMonitor', () => {
  const { spec } = onlyOf(readManifests(`${components}/prometheus-operator/service-monitor.yml`), 'ServiceMonitor');
  const relabelings = spec.endpoints?.[0]?.relabelings ?? [];

  it('lets no label of a target take the place of one of ours', async () => {
    // Labels that the Operator adds to a target of a ServiceMonitor, besides `job` and `instance`.
    const added = ['namespace', 'service', 'pod', 'container', 'endpoint'];
    const dropped = relabelings.filter(({ action }) => action === 'labeldrop').map(({ regex }) => whole(regex));

    const left = added.filter((label) => !dropped.some((regex) => regex.test(label)));
    const ours = new Set([...(await knownSeries()).values()].flatMap(({ labels }) => [...labels]));

    expect(added.filter((label) => ours.has(label))).toContain('service');
    expect(left.filter((label) => ours.has(label))).toEqual([]);
  });

  it.each([
    ['a single exporter by its name', ['zlb-exporter', ''], 'zlb-exporter'],
    ['a shard by its name and index', ['zlb-exporter', '2'], 'zlb-exporter-2'],
  ])('calls %s, whatever its address', (_, values, instance) => {
    const rule = relabelings.find(({ targetLabel }) => targetLabel === 'instance');

    expect(values.join(rule?.separator).replace(whole(rule?.regex), rule?.replacement ?? '')).toBe(instance);
  });
});

interface PrometheusConfig {
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly http_sd_configs?: readonly { readonly url: string }[];
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    readonly metric_relabel_configs?: readonly { readonly regex: string }[];
  }[];
}

const readConfig = (file: string): PrometheusConfig => parse(readFileSync(file, 'utf8')) as PrometheusConfig;

/** Returns the metrics that are kept of an exporter whose appliances are separate targets. */
const keptBy = (file: string): readonly string[] =>
  readConfig(file).scrape_configs.flatMap(({ metric_relabel_configs: configs = [] }) =>
    configs.map(({ regex }) => regex),
  );

describe('a target for each appliance', () => {
  const [kept = ''] = keptBy('deploy/prometheus/by-appliance.yml');

  it('leaves of the exporter itself what no appliance has, and nothing else', async () => {
    const self = createSelfMetrics({ version: '', revision: '', nodeVersion: '' });
    const page = await self.text();
    const ofExporter = [
      ...[...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name),
      ...Object.values(adminMetricFamilies).map(({ name }) => name),
    ];
    const ofAppliances = [...collectorFamilies, ...ownFamilies].map(({ name }) => name);

    expect(ofExporter.filter((name) => !whole(kept).test(name))).toEqual([]);
    expect(ofAppliances.filter((name) => whole(kept).test(name))).toEqual([]);
  });

  it('is the same in Kubernetes, with the Operator and without', () => {
    const { patches } = parse(readFileSync(`${components}/scrape-by-appliance/kustomization.yml`, 'utf8')) as {
      readonly patches: readonly [{ readonly patch: string }];
    };
    const [{ value }] = parse(patches[0].patch) as [{ readonly value: readonly { readonly regex: string }[] }];

    expect(value.map(({ regex }) => regex)).toEqual([kept]);
    expect(keptBy(plainFile)).toEqual([kept]);
  });
});

describe('deploy/kubernetes/prometheus.yml', () => {
  it('asks the shards that the ScrapeConfig asks, from another namespace, and scrapes each as itself as well', () => {
    const scrapeConfig = 'deploy/kubernetes/overlays/shards/scrape-config.yml';
    const urls = onlyOf(readManifests(scrapeConfig), 'ScrapeConfig').spec.httpSDConfigs?.map(({ url }) =>
      url.replace(':9444', '.monitoring.svc:9444'),
    );
    const [appliances, exporters] = readConfig(plainFile).scrape_configs;

    expect(appliances?.http_sd_configs?.map(({ url }) => url)).toEqual(urls);
    expect(exporters?.static_configs).toEqual([{ targets: urls?.map((url) => new URL(url).host) }]);
  });

  it.skipIf(!isThere('promtool'))('is accepted by promtool', () => {
    const { status, stderr } = spawnSync('promtool', ['check', 'config', plainFile], { encoding: 'utf8' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
