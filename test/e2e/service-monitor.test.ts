import { describe, expect, it } from 'vitest';
import { onlyOf, readManifests } from '../support/manifests.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const file = 'deploy/kubernetes/components/prometheus-operator/service-monitor.yml';
const [endpoint] = onlyOf(readManifests(file), 'ServiceMonitor').spec.endpoints ?? [];

/** Its rules in the words of Prometheus. */
const relabelConfigs = (endpoint?.relabelings ?? []).map((rule) =>
  Object.fromEntries(
    Object.entries(rule).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  ),
);

/** The labels of a target of the Operator, before the rules of its ServiceMonitor. */
const labels = {
  namespace: 'monitoring',
  service: 'zlb-exporter',
  pod: 'zlb-exporter-1',
  container: 'exporter',
  endpoint: 'metrics',
  __meta_kubernetes_service_name: 'zlb-exporter',
  __meta_kubernetes_pod_label_apps_kubernetes_io_pod_index: '1',
};

describe.skipIf(!isThere('prometheus'))('the ServiceMonitor, in a real Prometheus', () => {
  it('leaves every label of ours its name, and calls the exporter by its own', async () => {
    const url = await startExporter(['--web.listen-address=127.0.0.1:0']).url();
    const job = {
      job_name: 'zlb-exporter',
      static_configs: [{ targets: [new URL(url).host], labels }],
      relabel_configs: relabelConfigs,
    };
    const prometheus = await givenPrometheus(
      JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: [job] }),
    );

    const services = await until(
      () => prometheus.query('group by (service) (zlb_farm_backends)'),
      (seen) => seen.length > 0,
      40_000,
    );

    expect(services.map(({ metric }) => metric['service'])).not.toContain('zlb-exporter');
    expect(
      await prometheus.query('{exported_service!=""} or {exported_endpoint!=""} or {exported_instance!=""}'),
    ).toEqual([]);
    expect((await prometheus.query('up')).map(({ metric }) => metric)).toEqual([
      { __name__: 'up', job: 'zlb-exporter', instance: 'zlb-exporter-1', namespace: 'monitoring' },
    ]);
  }, 120_000);
});
