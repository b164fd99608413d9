import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { chart, helm, valuesOf } from './given-chart.ts';
import { type Cluster, givenCluster } from './given-cluster.ts';
import { judge, run } from './tools.ts';

const [etcd, apiserver] = [judge('etcd'), judge('kube-apiserver')];

const inNamespace = '/api/v1/namespaces/monitoring';

/** Returns what Helm printed, without what it says of links in the chart. */
function helmOn({ kubeconfig }: Cluster, args: readonly string[], values?: object): string {
  const all = [...args, '--namespace', 'monitoring', '--kubeconfig', kubeconfig, ...(values ? ['-f', '-'] : [])];
  const { status, stdout, stderr } = run(helm ?? '', all, values && stringify(values));
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('walk.go'));
  expect({ status, said }).toEqual({ status: 0, said: [] });
  return stdout;
}

describe.skipIf(!helm || !etcd || !apiserver)('the chart on a real API server', () => {
  it('is installed without a warning, upgraded and removed; secret and audit stay', { timeout: 300_000 }, async () => {
    const cluster = await givenCluster({ etcd: etcd ?? '', apiserver: apiserver ?? '' });
    const { call } = cluster;
    const labels = { 'pod-security.kubernetes.io/warn': 'restricted' };
    const secret = { metadata: { name: 'zlb-exporter-keys' }, stringData: { 'lb-paris': 'a-key' } };
    const stays = async (): Promise<readonly (string | undefined)[]> => [
      (await call('GET', `${inNamespace}/secrets/zlb-exporter-keys`)).kind,
      (await call('GET', `${inNamespace}/persistentvolumeclaims/zlb-exporter`)).kind,
    ];
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'monitoring', labels } });
    await call('POST', `${inNamespace}/secrets`, secret);

    expect(helmOn(cluster, ['install', 'zlb-exporter', chart], valuesOf.gateway)).toContain('STATUS: deployed');
    expect(await call('GET', '/apis/apps/v1/namespaces/monitoring/deployments/zlb-exporter')).toMatchObject({
      spec: { replicas: 1 },
    });
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);

    expect(helmOn(cluster, ['upgrade', 'zlb-exporter', chart], valuesOf.everything)).toContain('REVISION: 2');
    expect(await call('GET', '/apis/apps/v1/namespaces/monitoring/deployments/zlb-exporter')).toMatchObject({
      code: 404,
    });
    expect(await call('GET', '/apis/apps/v1/namespaces/monitoring/statefulsets/zlb-exporter')).toMatchObject({
      spec: { replicas: 3 },
    });
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);

    // Whatever the values, every object fits, and its pods fulfil Pod Security "restricted". This
    // cluster has no Gateway API, without which Helm refuses a route.
    for (const values of Object.values(valuesOf))
      helmOn(cluster, ['upgrade', 'zlb-exporter', chart], { ...values, httpRoute: { enabled: false } });

    helmOn(cluster, ['uninstall', 'zlb-exporter']);
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);
  });
});
