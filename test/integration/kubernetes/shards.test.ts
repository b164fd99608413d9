import { beforeAll, describe, expect, it } from 'vitest';
import { parseFlags } from '../../../src/commands/flags.ts';
import { parseShard } from '../../../src/lib/shard.ts';
import type { Manifest } from '../../support/manifest-problems.ts';
import { canBuild, onlyOf } from '../../support/manifests.ts';
import { buildOverlay, workloadOf } from './given-overlays.ts';

describe.skipIf(!canBuild())('shards in Kubernetes', () => {
  let manifests: readonly Manifest[];
  beforeAll(() => {
    manifests = buildOverlay('shards');
  });

  it('have each a pod of its own, and none is left out', () => {
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

    const { pod } = workloadOf(buildOverlay('single'));

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
