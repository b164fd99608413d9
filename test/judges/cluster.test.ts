import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { type StartedProcess, startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';
import { chart, helm, type Manifest, podOf, valuesOf } from './given-chart.ts';
import { type Cluster, givenCluster } from './given-cluster.ts';
import { judge, run, tell } from './tools.ts';

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

/** Does what a node does for a pod: starts its container, with its files in a folder. */
async function startAsNode({ call }: Cluster): Promise<StartedProcess> {
  const get = async (path: string): Promise<Manifest> => (await call('GET', path)) as Manifest;
  const deployment = await get('/apis/apps/v1/namespaces/monitoring/deployments/zlb-exporter');
  const folder = givenFolder();
  const here = (text: string): string => text.replaceAll(/\/(?:etc\/zlb-exporter|run\/secrets)/g, folder);
  for (const name of ['zlb-exporter', 'zlb-exporter-appliances']) {
    const { data = {} } = await get(`${inNamespace}/configmaps/${name}`);
    for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, file), here(text));
  }
  const { data = {} } = await get(`${inNamespace}/secrets/zlb-exporter-keys`);
  for (const [file, key] of Object.entries(data)) writeFileSync(join(folder, file), Buffer.from(key, 'base64'));
  const args = podOf([deployment]).pod.containers[0].args.map(here);
  return startExporter([...args.filter((arg) => !arg.includes('listen-address')), '--web.listen-address=127.0.0.1:0']);
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

    helmOn(cluster, ['uninstall', 'zlb-exporter']);
    expect(await stays()).toEqual(['Secret', 'PersistentVolumeClaim']);
  });

  it('becomes an exporter that can be scraped, once a node starts its container', { timeout: 300_000 }, async () => {
    const cluster = await givenCluster({ etcd: etcd ?? '', apiserver: apiserver ?? '' });
    const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'a-key' });
    onTestFinished(() => appliance.close());
    const { url, fingerprintSha256: fingerprint_sha256 } = appliance;
    const target = { name: 'lb-paris', url, api_key_file: '/run/secrets/lb-paris', tls: { fingerprint_sha256 } };
    const startedAt = performance.now();
    await cluster.call('POST', '/api/v1/namespaces', { metadata: { name: 'monitoring' } });
    const secret = { metadata: { name: 'zlb-exporter-keys' }, stringData: { 'lb-paris': 'a-key' } };
    await cluster.call('POST', `${inNamespace}/secrets`, secret);
    helmOn(cluster, ['install', 'zlb-exporter', chart], { appliances: [target] });

    const exporter = await startAsNode(cluster);
    await until(
      async () => (await fetch(`${await exporter.url()}/metrics`)).text(),
      (page) => page.includes('zlb_up{appliance="lb-paris"} 1'),
      120_000,
    );
    tell('chart, with this machine as the node', 2, startedAt);
  });
});
