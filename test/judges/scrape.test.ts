import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { emptyCommunityWorld } from '../../simulator/scenes/sizes.ts';
import { readDocuments } from '../docs/documents.ts';
import { givenFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';
import { chart, helm, type Pod } from './given-chart.ts';
import { type Cluster, givenCluster, helmOn } from './given-cluster.ts';
import { judge, judgesFolder } from './tools.ts';

const needed = ['etcd', 'kube-apiserver', 'kubectl', 'prometheus', 'htpasswd', 'openssl'];
const [etcd = '', apiserver = ''] = needed.map((name) => judge(name) ?? '');
const isComplete = helm !== undefined && needed.every((name) => judge(name));

const apiKey = 'canary0123456789';
const inNamespace = '/api/v1/namespaces/monitoring';

interface Stored {
  readonly data: Readonly<Record<string, string>>;
}

interface Targets {
  readonly data: {
    readonly activeTargets: readonly {
      readonly scrapePool: string;
      readonly health: string;
      readonly lastError: string;
    }[];
  };
}

describe.skipIf(!isComplete)('the section "TLS and passwords" of the chart README', () => {
  const document = readDocuments().find(({ file }) => file === `${chart}/README.md`);
  const blocks = (document?.blocks ?? []).filter(({ heading }) => heading.startsWith('TLS and passwords'));
  const textOf = (language: string, index: number) =>
    blocks.filter((block) => block.language === language)[index]?.text ?? '';

  it('leads from its Secrets to a scrape, and to none without its password or its name', {
    timeout: 600_000,
  }, async () => {
    const cluster = await givenCluster({ etcd, apiserver });
    const appliance = await startSimulatedAppliance({ world: emptyCommunityWorld(), apiKey });
    onTestFinished(() => appliance.close());
    const folder = givenFolder();
    const type = (commands: string) => typeInto(folder, cluster, commands);
    type('kubectl create namespace monitoring');
    type(`kubectl -n monitoring create secret generic zlb-exporter-keys --from-literal=lb-paris=${apiKey}`);
    type(textOf('sh', 0));
    type(textOf('sh', 1));
    const { serviceMonitor, ...values } = parse(textOf('yaml', 0)) as { readonly serviceMonitor: object };
    const { url, fingerprintSha256 } = appliance;
    const tls = { fingerprint_sha256: fingerprintSha256 };
    const appliances = [{ name: 'lb-paris', url, api_key_file: '/run/secrets/lb-paris', tls }];
    const often = { interval: '1s', scrapeTimeout: '1s', byAppliance: true };
    helmOn(cluster, ['install', 'zlb-exporter', chart], {
      ...values,
      appliances,
      serviceMonitor: { ...serviceMonitor, ...often },
    });

    const port = await startPod(cluster);
    const { exporter, appliances: each, asking } = await jobsOf(cluster);
    const found = { static_configs: [{ targets: [`127.0.0.1:${port}`], labels: discovered }] };
    const wrong = (name: string, change: object) => ({
      ...exporter,
      ...found,
      job_name: name,
      relabel_configs: [...exporter.relabel_configs, { target_label: 'job', replacement: name }],
      ...change,
    });
    const prometheus = await givenPrometheus(
      stringify({
        scrape_configs: [
          { ...exporter, ...found, job_name: 'exporter' },
          { ...each, job_name: 'zlb', http_sd_configs: [{ ...asking, url: `https://127.0.0.1:${port}/sd` }] },
          wrong('no password', { basic_auth: undefined }),
          wrong('no name', { tls_config: { ...exporter.tls_config, server_name: undefined } }),
          wrong('no authority', { tls_config: { ...exporter.tls_config, ca_file: undefined } }),
        ],
      }),
    );

    const scraped = await until(
      () => prometheus.query('up == 1'),
      (seen) => seen.length === 2,
    );
    const targets = await until(
      async () => ((await (await fetch(`${prometheus.url}/api/v1/targets`)).json()) as Targets).data.activeTargets,
      (seen) => seen.length === 5 && seen.every(({ health }) => health !== 'unknown'),
    );

    expect(scraped.map(({ metric }) => metric)).toEqual(
      expect.arrayContaining([
        { __name__: 'up', job: 'zlb-exporter', instance: 'zlb-exporter', namespace: 'monitoring' },
        { __name__: 'up', job: 'zlb', instance: 'lb-paris', exporter: `127.0.0.1:${port}` },
      ]),
    );
    expect(Object.fromEntries(targets.map(({ scrapePool, lastError }) => [scrapePool, lastError]))).toEqual({
      exporter: '',
      zlb: '',
      'no password': expect.stringContaining('401'),
      'no name': expect.stringContaining("doesn't contain any IP SANs"),
      'no authority': expect.stringContaining('unknown authority'),
    });
  });
});

function typeInto(cwd: string, { kubeconfig }: Cluster, commands: string): void {
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    PATH: [join(judgesFolder, 'bin'), process.env['PATH']].join(delimiter),
  };
  execFileSync('sh', ['-euc', commands], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Starts the container of the pod with the files that it mounts; returns its port. */
async function startPod({ call }: Cluster): Promise<number> {
  const deployment = await call<{ spec: { template: { spec: Pod } } }>(
    'GET',
    '/apis/apps/v1/namespaces/monitoring/deployments/zlb-exporter',
  );
  const { volumes, containers } = deployment.spec.template.spec;
  const [{ args, volumeMounts }] = containers;
  const root = givenFolder();
  const here = (text: string) => text.replaceAll(/\/(?:etc\/zlb-exporter|run\/secrets)/g, `${root}$&`);
  for (const { name, mountPath } of volumeMounts) {
    mkdirSync(join(root, mountPath), { recursive: true });
    const volume = volumes.find((each) => each['name'] === name);
    for (const { path, decode } of sourcesOf(volume)) {
      const { data } = await call<Stored>('GET', `${inNamespace}/${path}`);
      for (const [file, text] of Object.entries(data)) writeFileSync(join(root, mountPath, file), here(decode(text)));
    }
  }
  const port = await freePort();
  const exporter = startExporter(args.map((arg) => here(arg).replace(':9444', `127.0.0.1:${port}`)));
  await until(
    () => exporter.stdout() + exporter.stderr(),
    (seen) => seen.includes(`127.0.0.1:${port}`),
  );
  return port;
}

interface Volume {
  readonly secret?: { readonly secretName: string };
  readonly projected?: { readonly sources: readonly { readonly configMap: { readonly name: string } }[] };
}

function sourcesOf({ secret, projected }: Volume = {}) {
  const decoded = (text: string) => Buffer.from(text, 'base64').toString();
  return [
    ...(secret ? [{ path: `secrets/${secret.secretName}`, decode: decoded }] : []),
    ...(projected?.sources ?? []).map(({ configMap }) => ({
      path: `configmaps/${configMap.name}`,
      decode: (text: string) => text,
    })),
  ];
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** What ServiceMonitor and ScrapeConfig have in common, in the words of the Operator. */
interface Access {
  readonly scheme: string;
  readonly basicAuth: { readonly username: SecretKey; readonly password: SecretKey };
  readonly tlsConfig: { readonly serverName: string; readonly ca: { readonly secret: SecretKey } };
}

interface Endpoint extends Access {
  readonly interval: string;
  readonly scrapeTimeout: string;
  readonly relabelings: readonly Readonly<Record<string, unknown>>[];
  readonly metricRelabelings: readonly Readonly<Record<string, unknown>>[];
}

interface Discovery extends Access {
  readonly scrapeInterval: string;
  readonly scrapeTimeout: string;
  readonly httpSDConfigs: readonly (Access & { readonly url: string })[];
}

/** Writes the two objects as scrapes of Prometheus, as the Operator would, which cannot be had here. */
async function jobsOf({ call }: Cluster) {
  const folder = givenFolder();
  const objects = '/apis/monitoring.coreos.com';
  const named = 'namespaces/monitoring';
  const secret = async ({ name, key }: SecretKey): Promise<string> => {
    const { data } = await call<Stored>('GET', `${inNamespace}/secrets/${name}`);
    return Buffer.from(data[key] ?? '', 'base64').toString();
  };
  const access = async ({ basicAuth, tlsConfig: { serverName, ca } }: Access) => {
    const file = join(folder, ca.secret.key);
    writeFileSync(file, await secret(ca.secret));
    return {
      basic_auth: { username: await secret(basicAuth.username), password: await secret(basicAuth.password) },
      tls_config: { server_name: serverName, ca_file: file },
    };
  };
  const monitor = await call<{ spec: { endpoints: readonly [Endpoint] } }>(
    'GET',
    `${objects}/v1/${named}/servicemonitors/zlb-exporter`,
  );
  const [endpoint] = monitor.spec.endpoints;
  const { spec: discovery } = await call<{ spec: Discovery }>(
    'GET',
    `${objects}/v1alpha1/${named}/scrapeconfigs/zlb-exporter`,
  );
  const [{ url, ...asking }] = discovery.httpSDConfigs as [Access & { url: string }];
  expect(url).toBe('https://zlb-exporter.monitoring:9444/sd');
  return {
    exporter: {
      scheme: endpoint.scheme,
      scrape_interval: endpoint.interval,
      scrape_timeout: endpoint.scrapeTimeout,
      relabel_configs: endpoint.relabelings.map(snaked),
      metric_relabel_configs: endpoint.metricRelabelings.map(snaked),
      ...(await access(endpoint)),
    },
    appliances: {
      scheme: discovery.scheme.toLowerCase(),
      scrape_interval: discovery.scrapeInterval,
      scrape_timeout: discovery.scrapeTimeout,
      ...(await access(discovery)),
    },
    asking: await access(asking),
  };
}

/** `sourceLabels` of the Operator is `source_labels` of Prometheus. */
function snaked(object: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** What Prometheus would learn of the pod, were there a kubelet. */
const discovered = {
  __meta_kubernetes_namespace: 'monitoring',
  __meta_kubernetes_service_name: 'zlb-exporter',
  service: 'zlb-exporter',
  endpoint: 'metrics',
  container: 'exporter',
  pod: 'zlb-exporter-0123456789-abcde',
  namespace: 'monitoring',
};
