import { allOf, build, buildWith } from '../../support/manifests.ts';
import type { Manifest } from '../../support/manifest-problems.ts';

export const folder = 'deploy/kubernetes';

/** The overlays as they are, and with what they have only as comments. */
export const overlays = [
  ...['demonstration', 'single', 'shards'].map((name) => ({ name, built: () => buildOverlay(name) })),
  ...[
    { name: 'single with the gateway', overlay: 'single', component: 'admin' },
    { name: 'shards with the gateway', overlay: 'shards', component: 'admin-shards' },
  ].map(({ name, overlay, component }) => ({
    name,
    built: () => buildWith(`${folder}/overlays/${overlay}`, `${folder}/components/${component}`),
  })),
];

export function buildOverlay(name: string): readonly Manifest[] {
  return build(`${folder}/overlays/${name}`);
}

/** Returns the workload of the exporter, its pod, and the one container of it. */
export function workloadOf(manifests: readonly Manifest[]) {
  const [workload, ...more] = [...allOf(manifests, 'Deployment'), ...allOf(manifests, 'StatefulSet')];
  const pod = workload?.spec?.template.spec;
  const [container, ...others] = pod?.containers ?? [];
  if (!workload?.spec || !pod || !container || more.length + others.length > 0)
    throw new Error('expected one workload, whose pod has one container');
  return { workload, spec: workload.spec, labels: workload.spec.template.metadata?.labels, pod, container };
}
