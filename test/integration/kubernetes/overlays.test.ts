import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemsOf, type Manifest } from '../../support/manifest-problems.ts';
import { allOf, canBuild, onlyOf } from '../../support/manifests.ts';
import { overlays, workloadOf } from './given-overlays.ts';

const namesOf = (items: readonly { readonly metadata?: { readonly name?: string } }[]) =>
  items.map(({ metadata }) => metadata?.name);

describe.skipIf(!canBuild())('deploy/kubernetes, as kubectl builds it', () => {
  describe.each(overlays)('$name', ({ built }) => {
    let manifests: readonly Manifest[];
    beforeAll(() => {
      manifests = built();
    });

    it('fits the schemas of Kubernetes and of the Operator, with no key too many', () => {
      expect(manifests.flatMap((manifest) => problemsOf(manifest))).toEqual([]);
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
      const routes = globSync('src/http/**/*.ts')
        .map((file) => readFileSync(file, 'utf8'))
        .join('');
      const { startupProbe, livenessProbe, readinessProbe } = container;
      const probes = [startupProbe?.httpGet, livenessProbe?.httpGet, readinessProbe?.httpGet];
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
      expect(probes.map((probe) => probe?.path)).toEqual(['/-/healthy', '/-/healthy', '/-/ready']);
      for (const probe of probes) expect(routes).toContain(`app.get('${probe?.path}'`);
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
  });
});
