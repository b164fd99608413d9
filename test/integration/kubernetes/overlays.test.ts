import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseFlags } from '../../../src/commands/flags.ts';
import { parseShard } from '../../../src/lib/shard.ts';
import { problemsOf, type Manifest } from '../../support/manifest-problems.ts';
import { allOf, build, buildWith, canBuild, onlyOf } from '../../support/manifests.ts';

const folder = 'deploy/kubernetes';
const overlays = ['demonstration', 'single', 'shards'].map((name) => ({
  name,
  built: () => build(`${folder}/overlays/${name}`),
}));
const withGateway = [
  { name: 'single with the gateway', overlay: 'single', component: 'admin' },
  { name: 'shards with the gateway', overlay: 'shards', component: 'admin-shards' },
].map(({ name, overlay, component }) => ({
  name,
  built: () => buildWith(`${folder}/overlays/${overlay}`, `${folder}/components/${component}`),
}));

/** What runs the exporter, and the pod that it makes. */
function workloadOf(manifests: readonly Manifest[]) {
  const [workload, ...more] = [...allOf(manifests, 'Deployment'), ...allOf(manifests, 'StatefulSet')];
  const pod = workload?.spec?.template.spec;
  const [container, ...others] = pod?.containers ?? [];
  if (!workload?.spec || !pod || !container) throw new Error('there is no workload with a pod and a container');
  expect([...more, ...others]).toEqual([]);
  return { workload, spec: workload.spec, labels: workload.spec.template.metadata?.labels, pod, container };
}

const namesOf = (items: readonly { readonly metadata?: { readonly name?: string } }[]) =>
  items.map(({ metadata }) => metadata?.name);

describe.skipIf(!canBuild())('deploy/kubernetes, as kubectl builds it', () => {
  describe.each([...overlays, ...withGateway])('$name', ({ built }) => {
    let manifests: readonly Manifest[];
    beforeAll(() => {
      manifests = built();
    });

    it('fits the schemas of Kubernetes and of the Operator, with no key too many', () => {
      expect(manifests.flatMap((manifest) => problemsOf(manifest))).toEqual([]);
    });

    it('passes what Kubernetes calls restricted', () => {
      const { pod, container } = workloadOf(manifests);

      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod.automountServiceAccountToken).toBe(false);
      for (const key of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) expect(pod).not.toHaveProperty(key);
      const kinds = (pod.volumes ?? []).flatMap((volume) => Object.keys(volume));
      const allowed = ['name', 'configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret'];
      expect(kinds.filter((kind) => !allowed.includes(kind))).toEqual([]);
    });

    it('runs as the user of the image, for whom the volumes are', () => {
      const { pod } = workloadOf(manifests);
      const [, user] = /^USER (\d+):\d+$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];

      expect([pod.securityContext?.runAsUser, pod.securityContext?.fsGroup].map(String)).toEqual([user, user]);
    });

    it('runs the image of this release, in whatever registry', () => {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

      expect(workloadOf(manifests).container.image).toMatch(new RegExp(`^([^/]+/)?zlb-exporter:${version}$`));
    });

    it('selects its own pods, wherever something selects', () => {
      const { spec, labels, pod } = workloadOf(manifests);
      const service = onlyOf(manifests, 'Service');
      const selectors = [
        spec.selector.matchLabels,
        service.spec?.selector,
        ...allOf(manifests, 'NetworkPolicy').map((policy) => policy.spec?.podSelector?.matchLabels),
        ...allOf(manifests, 'PodDisruptionBudget').map((budget) => budget.spec?.selector?.matchLabels),
        ...(pod.topologySpreadConstraints ?? []).map((constraint) => constraint.labelSelector?.matchLabels),
      ];

      expect(selectors.length).toBeGreaterThan(2);
      for (const selector of selectors) expect(selector).toEqual(labels);
      for (const monitor of allOf(manifests, 'ServiceMonitor'))
        expect(monitor.spec.selector.matchLabels).toEqual(service.metadata?.labels);
    });

    it('asks on the port of the exporter, by its name, for paths that there are', () => {
      const { container } = workloadOf(manifests);
      const [port] = container.ports ?? [];
      const routes = readFileSync('src/http/metrics-app.ts', 'utf8');
      const probes = [container.livenessProbe?.httpGet, container.readinessProbe?.httpGet];
      const names = [
        ...probes.map((probe) => probe?.port),
        ...(onlyOf(manifests, 'Service').spec?.ports ?? []).map(({ targetPort }) => targetPort),
        ...(onlyOf(manifests, 'NetworkPolicy').spec?.ingress ?? []).flatMap(({ ports = [] }) =>
          ports.map((each) => each.port),
        ),
        ...allOf(manifests, 'ServiceMonitor').flatMap(({ spec }) => spec.endpoints?.map((endpoint) => endpoint.port)),
      ];

      expect(container.ports).toEqual([{ name: 'metrics', containerPort: 9444 }]);
      expect(new Set(names)).toEqual(new Set([port?.name]));
      expect(probes.map((probe) => probe?.path)).toEqual(['/-/healthy', '/-/ready']);
      for (const probe of probes) expect(routes).toContain(`app.get('${probe?.path}'`);
    });

    it('shows metrics before it is ready', () => {
      expect(onlyOf(manifests, 'Service').spec?.publishNotReadyAddresses).toBe(true);
    });

    it('has every volume that is mounted, mounts every one that it has, and what they are made of', () => {
      const { spec, pod, container } = workloadOf(manifests);
      const templates = 'volumeClaimTemplates' in spec ? namesOf(spec.volumeClaimTemplates ?? []) : [];
      const volumes = pod.volumes ?? [];
      const projected = volumes.flatMap(({ projected }) => projected?.sources ?? []);
      const configMaps = [...volumes, ...projected].flatMap(({ configMap }) => configMap?.name ?? []);
      const claims = volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);

      const mounted = (container.volumeMounts ?? []).map(({ name }) => name);
      expect(new Set([...volumes.map(({ name }) => name), ...templates])).toEqual(new Set(mounted));
      expect(namesOf(allOf(manifests, 'ConfigMap'))).toEqual(expect.arrayContaining(configMaps));
      expect(namesOf(allOf(manifests, 'PersistentVolumeClaim'))).toEqual(claims);
      expect(namesOf(allOf(manifests, 'ServiceAccount'))).toEqual([pod.serviceAccountName]);
    });

    it('has no key in it: the Secret is made beside it, and no environment holds any', () => {
      const { pod, container } = workloadOf(manifests);
      const secrets = (pod.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);

      expect(manifests.map(({ kind }): string => kind)).not.toContain('Secret');
      expect(secrets.filter((name) => !readFileSync(`${folder}/README.md`, 'utf8').includes(name))).toEqual([]);
      expect(container).not.toHaveProperty('envFrom');
      expect((container.env ?? []).filter(({ valueFrom }) => valueFrom?.secretKeyRef)).toEqual([]);
    });

    it('is in one namespace', () => {
      const namespaces = manifests
        .filter(({ kind }) => kind !== 'Namespace')
        .map(({ metadata }) => metadata?.namespace);

      expect(new Set(namespaces).size).toBe(1);
      expect(namespaces).not.toContain(undefined);
    });

    it('has nothing that kubectl could not note down: an annotation holds 256 KiB', () => {
      const tooLarge = manifests.filter((manifest) => Buffer.byteLength(JSON.stringify(manifest)) > 262_144);

      expect(namesOf(tooLarge)).toEqual([]);
    });

    it('starts the exporter with flags that it has', () => {
      const { container } = workloadOf(manifests);
      const { flags, positionals } = parseFlags(container.args?.map((arg) => arg.replace('$(POD_INDEX)', '0')) ?? []);

      expect(positionals).toEqual([]);
      expect(flags['config.file'] ?? '').toBe(
        container.volumeMounts?.some(({ name }) => name === 'configuration') ? '/etc/zlb-exporter/zlb.yml' : '',
      );
    });
  });

  it('ends the old exporter before it starts the new one, so that no appliance is asked twice', () => {
    const { spec } = onlyOf(build(`${folder}/overlays/single`), 'Deployment');

    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  it('keeps the audit where the documentation of the gateway has it, on a volume', () => {
    for (const { built } of withGateway) {
      const mounts = workloadOf(built()).container.volumeMounts;

      expect(mounts).toContainEqual({ name: 'state', mountPath: '/var/lib/zlb-exporter' });
    }
  });

  it('reaches nothing outside in the demonstration', () => {
    const { spec } = onlyOf(build(`${folder}/overlays/demonstration`), 'NetworkPolicy');

    expect(spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [] });
  });

  describe('shards', () => {
    let manifests: readonly Manifest[];
    beforeAll(() => {
      manifests = build(`${folder}/overlays/shards`);
    });

    it('gives each pod a shard of its own, and has all of them', () => {
      const { container } = workloadOf(manifests);
      const indexes = Array.from({ length: onlyOf(manifests, 'StatefulSet').spec?.replicas ?? 0 }, (_, index) => index);

      const started = indexes.map(
        (index) => parseFlags(container.args?.map((arg) => arg.replace('$(POD_INDEX)', `${index}`)) ?? []).flags,
      );

      expect(indexes.length).toBeGreaterThan(1);
      expect(started.map(({ shard }) => parseShard(String(shard)))).toEqual(
        indexes.map((index) => ({ index, count: indexes.length })),
      );
      expect(container.env).toEqual([
        {
          name: 'POD_INDEX',
          valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
        },
      ]);
    });

    it('are the same pods as a single exporter, but for that', () => {
      const strip = (pod: ReturnType<typeof workloadOf>['pod']) => ({
        ...pod,
        topologySpreadConstraints: undefined,
        containers: pod.containers.map((container) => ({ ...container, args: undefined, env: undefined })),
      });

      const { pod } = workloadOf(build(`${folder}/overlays/single`));

      expect(strip(workloadOf(manifests).pod)).toEqual(strip(pod));
    });

    it('are asked one by one for their appliances, by the names that the Service gives them', () => {
      const { metadata, spec } = onlyOf(manifests, 'StatefulSet');
      const service = onlyOf(manifests, 'Service');

      expect(spec?.serviceName).toBe(service.metadata?.name);
      expect(service.spec?.clusterIP).toBe('None');
      expect(onlyOf(manifests, 'ScrapeConfig').spec.httpSDConfigs?.map(({ url }) => url)).toEqual(
        Array.from(
          { length: spec?.replicas ?? 0 },
          (_, index) => `http://${metadata?.name}-${index}.${service.metadata?.name}:9444/sd`,
        ),
      );
    });

    it('are drained one by one', () => {
      expect(onlyOf(manifests, 'PodDisruptionBudget').spec?.maxUnavailable).toBe(1);
    });
  });
});
