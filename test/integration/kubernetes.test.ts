import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseFlags } from '../../src/commands/flags.ts';
import { parseShard } from '../../src/lib/shard.ts';
import { isThere } from '../support/programs.ts';

type Labels = Readonly<Record<string, string>>;

interface Service {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly clusterIP: string;
    readonly selector: Labels;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly valueFrom: unknown }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: boolean }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface StatefulSet {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly serviceName: string;
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Labels };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly securityContext: unknown;
        readonly automountServiceAccountToken: boolean;
        readonly containers: readonly [Container];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

interface DisruptionBudget {
  readonly spec: { readonly maxUnavailable: number; readonly selector: { readonly matchLabels: Labels } };
}

interface PrometheusConfig {
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly http_sd_configs?: readonly { readonly url: string }[];
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
  }[];
}

const documents = parseAllDocuments(readFileSync('deploy/kubernetes/shards.yml', 'utf8')).map(
  (document) => document.toJS() as { readonly kind: string },
);
const prometheusFile = 'deploy/kubernetes/prometheus.yml';
const prometheus = parse(readFileSync(prometheusFile, 'utf8')) as PrometheusConfig;

function only<Document>(kind: string): Document {
  const found = documents.filter((document) => document.kind === kind);
  expect(found, kind).toHaveLength(1);
  return found[0] as unknown as Document;
}

const service = only<Service>('Service');
const shards = only<StatefulSet>('StatefulSet');
const pod = shards.spec.template.spec;
const [container] = pod.containers;

/** What a pod is started with, as Kubernetes fills it in. */
const argsOf = (index: number) => container.args.map((arg) => arg.replaceAll('$(POD_INDEX)', `${index}`));

describe('deploy/kubernetes/shards.yml', () => {
  it('starts each pod with flags that there are, on a shard of its own, and has all of them', () => {
    const indexes = Array.from({ length: shards.spec.replicas }, (_, index) => index);

    const started = indexes.map((index) => parseFlags(argsOf(index)).flags);

    expect(started.map(({ shard }) => parseShard(String(shard)))).toEqual(
      indexes.map((index) => ({ index, count: shards.spec.replicas })),
    );
    for (const flags of started) expect(flags['config.file']).toBe('/etc/zlb-exporter/zlb.yml');
    expect(container.env).toEqual([
      {
        name: 'POD_INDEX',
        valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
      },
    ]);
  });

  it('has the configuration and the keys where the flags and the documentation have them, read-only', () => {
    const mounts = container.volumeMounts.map(({ name, mountPath, readOnly }) => ({ name, mountPath, readOnly }));

    expect(mounts).toEqual([
      { name: 'configuration', mountPath: '/etc/zlb-exporter', readOnly: true },
      { name: 'keys', mountPath: '/run/secrets', readOnly: true },
    ]);
    expect(pod.volumes.map(({ name }) => name)).toEqual(mounts.map(({ name }) => name));
  });

  it('gives the pods no right that they do not need', () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('asks on the port of the exporter for paths that there are', () => {
    const { livenessProbe, readinessProbe } = container;
    const paths = readFileSync('src/http/metrics-app.ts', 'utf8');

    expect(container.ports).toEqual([{ name: 'metrics', containerPort: 9444 }]);
    for (const { httpGet } of [livenessProbe, readinessProbe]) {
      expect(httpGet.port).toBe('metrics');
      expect(paths).toContain(`app.get('${httpGet.path}'`);
    }
    expect([livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/-/healthy', '/-/ready']);
  });

  it('names the pods by a service that has them, and drains them one by one', () => {
    const { labels } = shards.spec.template.metadata;
    const budget = only<DisruptionBudget>('PodDisruptionBudget');

    expect(service.metadata.name).toBe(shards.spec.serviceName);
    expect(service.spec).toMatchObject({ clusterIP: 'None', selector: labels });
    expect(service.spec.ports).toMatchObject([{ port: 9444, targetPort: 'metrics' }]);
    expect(shards.spec.selector.matchLabels).toEqual(labels);
    expect(budget.spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: labels } });
  });
});

describe('deploy/kubernetes/prometheus.yml', () => {
  const hosts = Array.from(
    { length: shards.spec.replicas },
    (_, index) => `${shards.metadata.name}-${index}.${service.metadata.name}.monitoring.svc:9444`,
  );

  it('asks every shard for its appliances, and scrapes each as itself as well', () => {
    const [appliances, exporters] = prometheus.scrape_configs;

    expect(appliances?.job_name).toContain('zlb');
    expect(appliances?.http_sd_configs?.map(({ url }) => url)).toEqual(hosts.map((host) => `http://${host}/sd`));
    expect(exporters?.static_configs).toEqual([{ targets: hosts }]);
  });

  it.skipIf(!isThere('promtool'))('is accepted by promtool', () => {
    const { status, stderr } = spawnSync('promtool', ['check', 'config', prometheusFile], { encoding: 'utf8' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
