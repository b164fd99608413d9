import { describe, expect, it } from 'vitest';
import { chart, helm, render, valuesOf } from './given-chart.ts';
import { givenCluster, helmOn } from './given-cluster.ts';
import { judge, run } from './tools.ts';

const [etcd, apiserver, kubectl] = [judge('etcd'), judge('kube-apiserver'), judge('kubectl')];

/** The cluster has no Gateway API, without which a route is refused. */
const everyValues = Object.values(valuesOf).map((values) => ({ ...values, httpRoute: { enabled: false } }));
const inNamespace = '/api/v1/namespaces/monitoring';

describe.skipIf(!helm || !etcd || !apiserver || !kubectl)('the chart on a real API server', () => {
  it('is installed without a warning, upgraded and removed, while secret and audit remain', {
    timeout: 300_000,
  }, async () => {
    const cluster = await givenCluster({ etcd: etcd ?? '', apiserver: apiserver ?? '' });
    const { call, kubeconfig } = cluster;
    const labels = { 'pod-security.kubernetes.io/warn': 'restricted' };
    const secret = { metadata: { name: 'zlb-exporter-keys' }, stringData: { 'lb-paris': 'a-key' } };
    const stays = async (): Promise<readonly (string | undefined)[]> => [
      (await call('GET', `${inNamespace}/secrets/zlb-exporter-keys`)).kind,
      (await call('GET', `${inNamespace}/persistentvolumeclaims/zlb-exporter`)).kind,
    ];
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'monitoring', labels } });
    await call('POST', `${inNamespace}/secrets`, secret);

    for (const values of everyValues) {
      const dryRun = ['create', '--dry-run=server', '--validate=strict', '-f', '-'];
      const { status, stderr } = run(kubectl ?? '', [`--kubeconfig=${kubeconfig}`, ...dryRun], render(values).text);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }

    expect(helmOn(cluster, ['install', 'zlb-exporter', chart], valuesOf.gateway)).toContain('STATUS: deployed');
    expect(await call('GET', '/apis/apps/v1/namespaces/monitoring/deployments/zlb-exporter')).toMatchObject({
      spec: { replicas: 1 },
    });
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);

    // The Service keeps the kind of address that it had at first, as values.yaml says.
    const upgrade = [
      'upgrade',
      'zlb-exporter',
      chart,
      '-n',
      'monitoring',
      '--kubeconfig',
      kubeconfig,
      '--reuse-values',
    ];
    expect(run(helm ?? '', [...upgrade, '--set=service.type=LoadBalancer']).stderr).toContain('spec.clusterIPs');

    expect(helmOn(cluster, ['upgrade', 'zlb-exporter', chart], valuesOf.everything)).toContain('REVISION: 3');
    expect(await call('GET', '/apis/apps/v1/namespaces/monitoring/deployments/zlb-exporter')).toMatchObject({
      code: 404,
    });
    expect(await call('GET', '/apis/apps/v1/namespaces/monitoring/statefulsets/zlb-exporter')).toMatchObject({
      spec: { replicas: 3 },
    });
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);

    // Whatever the values, every object fits, and its pods fulfil Pod Security "restricted".
    for (const values of everyValues) helmOn(cluster, ['upgrade', 'zlb-exporter', chart], values);

    helmOn(cluster, ['uninstall', 'zlb-exporter']);
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);
  });
});
