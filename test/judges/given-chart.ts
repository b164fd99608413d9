import { parseAllDocuments, stringify } from 'yaml';
import { judge, run } from './tools.ts';

export const chart = 'deploy/helm/zlb-exporter';
export const helm = judge('helm');

/** The parts of a manifest that the tests read. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

export type Labels = Readonly<Record<string, string>>;

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly unknown[];
  readonly ports?: readonly unknown[];
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Pod {
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly automountServiceAccountToken: boolean;
  readonly volumes: readonly Readonly<Record<string, unknown>>[];
  readonly containers: readonly [Container, ...Container[]];
  readonly initContainers?: readonly Container[];
}

const appliances = [
  {
    name: 'lb-paris',
    url: 'https://192.0.2.10:444',
    api_key_file: '/run/secrets/lb-paris',
    labels: { site: 'paris' },
  },
];
const tokens = [
  {
    name: 'alice',
    sha256: '65bdf14cdbf6ac4497c2f93109aa8ddfb9a936ae07315a32039bd0d2b112decd',
    role: 'viewer',
  },
];

/** A container that fulfils Pod Security "restricted". */
function sideContainer(name: string) {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  return { name, image: 'registry.example/side:1', securityContext };
}

/** Values as people write them: one exporter, shards, the gateway, TLS, the demonstration. */
export const valuesOf = {
  single: { appliances },
  everything: {
    appliances,
    config: { polling: { timeout: '10s' } },
    storage: { size: '2Gi', storageClassName: 'fast' },
    shards: 3,
    gateway: { enabled: true, config: { tokens } },
    serviceMonitor: {
      enabled: true,
      namespace: 'monitoring',
      labels: { release: 'kps' },
      scrapeTimeout: '10s',
      byAppliance: true,
      authorization: { credentials: { name: 'a-token', key: 'token' } },
      relabelings: [{ targetLabel: 'cluster', replacement: 'paris' }],
      metricRelabelings: [{ action: 'labeldrop', regex: 'site' }],
    },
    prometheusRule: { enabled: true, labels: { release: 'kps' }, exporterUrl: 'https://lb.example.com/' },
    dashboards: { enabled: true },
    networkPolicy: { appliancePorts: [444, 4444], applianceNetworks: ['192.0.2.0/24'] },
  },
  gateway: {
    appliances,
    gateway: { enabled: true, config: { tokens } },
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true, extended: false },
  },
  tls: {
    appliances,
    webSecret: 'zlb-exporter-web',
    service: { port: 9555 },
    serviceMonitor: {
      enabled: true,
      byAppliance: true,
      tlsConfig: { ca: { secret: { name: 'zlb-exporter-scrape', key: 'ca.crt' } } },
      basicAuth: {
        username: { name: 'zlb-exporter-scrape', key: 'username' },
        password: { name: 'zlb-exporter-scrape', key: 'password' },
      },
    },
  },
  requests: {
    appliances: appliances.map((appliance) => ({
      ...appliance,
      requests: { from: ['192.0.2.10', '2001:db8::/64', '2001:db8:1::5'] },
    })),
    config: { requests: { listen_tcp: ':5514', listen_udp: '0.0.0.0:5515' } },
    requestsService: { annotations: { owner: 'network' } },
    storage: { enabled: true },
  },
  open: {
    appliances: [
      ...appliances,
      { name: 'lb-rome', url: 'https://192.0.2.11:8443', api_key_file: '/run/secrets/lb-rome' },
    ],
    global: { imageRegistry: 'mirror.example' },
    fullnameOverride: 'balancers',
    namespaceOverride: 'monitoring',
    commonLabels: { cost: 'network' },
    service: { type: 'LoadBalancer', labels: { zone: 'inside' }, annotations: { owner: 'network' } },
    serviceAccount: { name: 'of-mine', annotations: { owner: 'network' } },
    automountServiceAccountToken: false,
    podLabels: { team: 'network' },
    priorityClassName: 'high',
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { team: 'network' } },
      },
    ],
    hostAliases: [{ ip: '192.0.2.11', hostnames: ['lb-rome'] }],
    dnsPolicy: 'ClusterFirst',
    dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
    extraEnvFrom: [{ secretRef: { name: 'more' } }],
    extraInitContainers: [sideContainer('first')],
    extraContainers: [sideContainer('{{ .Release.Name }}-beside')],
    extraArgs: ['--log.level=debug'],
    extraEnv: [{ name: 'TZ', value: 'Europe/Rome' }],
    extraVolumes: [{ name: 'authority', configMap: { name: 'authority' } }],
    extraVolumeMounts: [{ name: 'authority', mountPath: '/etc/authority' }],
    extraManifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'of-{{ .Release.Name }}' } }],
    ingress: { enabled: true, host: 'lb.example.com', tlsSecret: 'lb-tls', className: 'nginx' },
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }], hostnames: ['lb.example.com'] },
    prometheusRule: { enabled: true },
    networkPolicy: { extraIngress: [{ from: [{ ipBlock: { cidr: '198.51.100.0/24' } }] }] },
  },
  demonstration: { demonstration: true },
} as const satisfies Readonly<Record<string, object>>;

/** Returns what `helm template` prints, and its refusal: a warning is one too. */
export function render(
  values: object,
  apis: readonly string[] = [],
): { readonly text: string; readonly refusal: string } {
  const args = ['template', 'zlb-exporter', chart, '-n', 'monitoring', '--kube-version', '1.31', '-f', '-'];
  args.push(...apis.map((api) => `--api-versions=${api}`));
  const { stdout, stderr } = run(helm ?? 'helm', args, stringify(values));
  return { text: stdout, refusal: stderr };
}

export function manifestsOf(values: object, apis: readonly string[] = []): readonly Manifest[] {
  const { text, refusal } = render(values, apis);
  if (refusal !== '') throw new Error(refusal);
  // YAML 1.1 as Kubernetes reads it, where 0440 is octal.
  return parseAllDocuments(text, { version: '1.1' }).flatMap((each) => (each.toJS() as Manifest | null) ?? []);
}

export function onlyOf(manifests: readonly Manifest[], kind: string): Manifest {
  const [found, ...more] = manifests.filter((manifest) => manifest.kind === kind);
  if (!found || more.length > 0) throw new Error(`expected one ${kind}`);
  return found;
}

/** Returns the pod of the Deployment or StatefulSet, and its labels. */
export function podOf(manifests: readonly Manifest[]): { readonly pod: Pod; readonly labels: Labels } {
  const workload = manifests.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  const template = workload?.spec?.['template'] as { spec: Pod; metadata: { labels: Labels } } | undefined;
  if (!template) throw new Error('expected a Deployment or a StatefulSet');
  return { pod: template.spec, labels: template.metadata.labels };
}
