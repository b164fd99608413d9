import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseFlags } from '../../../src/commands/flags.ts';
import type { Manifest } from '../../support/manifest-problems.ts';
import { canBuild, onlyOf } from '../../support/manifests.ts';
import { buildOverlay, folder, overlays, workloadOf } from './given-overlays.ts';

describe.skipIf(!canBuild())('the pods in Kubernetes', () => {
  describe.each(overlays)('$name', ({ built }) => {
    let manifests: readonly Manifest[];
    beforeAll(() => {
      manifests = built();
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

    it('starts the exporter with flags that it has', () => {
      const { container } = workloadOf(manifests);
      const { flags, positionals } = parseFlags(container.args?.map((arg) => arg.replace('$(POD_INDEX)', '0')) ?? []);

      expect(positionals).toEqual([]);
      expect(flags['config.file'] ?? '').toBe(
        container.volumeMounts?.some(({ name }) => name === 'configuration') ? '/etc/zlb-exporter/zlb.yml' : '',
      );
    });

    it('has no key in it: the Secret is made beside it, and no environment holds any', () => {
      const { pod, container } = workloadOf(manifests);
      const secrets = (pod.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);

      expect(manifests.map(({ kind }): string => kind)).not.toContain('Secret');
      expect(secrets.filter((name) => !readFileSync(`${folder}/README.md`, 'utf8').includes(name))).toEqual([]);
      expect(container).not.toHaveProperty('envFrom');
      expect((container.env ?? []).filter(({ valueFrom }) => valueFrom?.secretKeyRef)).toEqual([]);
    });

    it('shows metrics before it is ready', () => {
      expect(onlyOf(manifests, 'Service').spec?.publishNotReadyAddresses).toBe(true);
    });
  });

  it('end before others take their place, so that no appliance is asked twice', () => {
    const { spec } = onlyOf(buildOverlay('single'), 'Deployment');

    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  it.each(overlays.filter(({ name }) => name.includes('gateway')))('keep the audit on a volume: $name', ({ built }) => {
    const { volumeMounts } = workloadOf(built()).container;

    expect(volumeMounts).toContainEqual({ name: 'state', mountPath: '/var/lib/zlb-exporter' });
  });

  it('reach nothing outside in the demonstration', () => {
    const { spec } = onlyOf(buildOverlay('demonstration'), 'NetworkPolicy');

    expect(spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [] });
  });
});
