import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { readRuleFiles } from '../../scripts/rule-files.ts';
import { loadSettings } from '../../src/app/load-settings.ts';
import { parseFlags } from '../../src/commands/parse-flags.ts';
import { parseShard } from '../../src/config/settings.ts';
import { readDocuments } from '../docs/documents.ts';
import { givenFolder } from '../support/folder.ts';
import { knownSeries } from '../support/known-series.ts';
import { chart, helm, manifestsOf, onlyOf, podOf, render, valuesOf } from './given-chart.ts';
import { judge, run } from './tools.ts';

const promtool = judge('promtool');
const examples = readDocuments()
  .filter(({ file }) => file === `${chart}/README.md`)
  .flatMap(({ blocks }) => blocks)
  .filter(({ language }) => language === 'yaml')
  .map(({ line, text }) => [line, text] as const);

describe.skipIf(!helm)('the Helm chart', () => {
  it('passes helm lint', () => {
    const { status, stdout } = run(helm ?? '', ['lint', '--strict', chart]);

    expect({ status, complaints: stdout.match(/\[(WARNING|ERROR)\].*/g) }).toEqual({ status: 0, complaints: null });
  });

  it.each([
    ['a misspelt value', { shard: 3 }, /additional properties 'shard' not allowed/],
    ['a misspelt value of a block', { networkPolicy: { ports: [444] } }, /'ports' not allowed/],
    ['a key of an appliance among the values', { appliances: [{ name: 'a', url: 'u', api_key: 'k' }] }, /not/],
    ['an audit file of its own', { gateway: { config: { journal_file: 'x' } } }, /journal_file/],
    ['a number as text', { shards: '3' }, /want integer/],
    ['values without an appliance', {}, /There is no appliance: name your load balancers in the value `appliances`/],
    ['shards behind one address', { ...valuesOf.everything, service: { type: 'LoadBalancer' } }, /Shards need service/],
    ['the log of requests of shards', { ...valuesOf.requests, shards: 2 }, /config\.requests needs `shards: 1`/],
    ['a label that selects pods', { commonLabels: { 'app.kubernetes.io/name': 'x' } }, /commonLabels/],
    ['an Ingress without a host', { demonstration: true, ingress: { enabled: true } }, /ingress\.host is the name/],
  ])('refuses %s', (_, values, refusal) => {
    expect(render(values).refusal).toMatch(refusal);
  });

  it('permits connections to the ports of its appliances, and from the ingress controller', () => {
    const manifests = manifestsOf(valuesOf.open);
    const policy = JSON.stringify(onlyOf(manifests, 'NetworkPolicy').spec);

    expect(policy).toContain('[{"port":444,"protocol":"TCP"},{"port":8443,"protocol":"TCP"}]');
    expect(policy).toContain('"198.51.100.0/24"');
    expect(policy).toContain('{"app.kubernetes.io/name":"ingress-nginx"}');
    expect(JSON.stringify(onlyOf(manifests, 'PrometheusRule').spec)).toContain('https://lb.example.com/runbooks');
  });

  it('gives the request log its ports, a Service that keeps the senders, and a rule for them alone', () => {
    const manifests = manifestsOf(valuesOf.requests);
    const [, service] = manifests.filter(({ kind }) => kind === 'Service');
    const policy = JSON.stringify(onlyOf(manifests, 'NetworkPolicy').spec);

    expect(service).toMatchObject({
      metadata: { name: 'zlb-exporter-requests' },
      spec: {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        ports: [
          { port: 5514, targetPort: 'requests-tcp', protocol: 'TCP' },
          { port: 5515, targetPort: 'requests-udp', protocol: 'UDP' },
        ],
      },
    });
    expect(podOf(manifests).pod.containers[0].ports).toMatchObject([
      { name: 'metrics', containerPort: 9444 },
      { name: 'requests-tcp', containerPort: 5514 },
      { name: 'requests-udp', containerPort: 5515, protocol: 'UDP' },
    ]);
    for (const cidr of ['192.0.2.10/32', '2001:db8::/64', '2001:db8:1::5/128'])
      expect(policy).toContain(`{"ipBlock":{"cidr":"${cidr}"}}`);
  });

  it('accepts common settings of pods and services', () => {
    const manifests = manifestsOf(valuesOf.open);
    const { pod } = podOf(manifests);

    expect(pod.containers.map(({ name, image }) => ({ name, image }))).toEqual([
      { name: 'exporter', image: expect.stringMatching(/^mirror\.example\/zlb-exporter:\d/) },
      { name: 'zlb-exporter-beside', image: 'registry.example/side:1' },
    ]);
    expect(pod.initContainers?.map(({ name }) => name)).toEqual(['first']);
    expect(pod).toMatchObject({ hostAliases: valuesOf.open.hostAliases, dnsConfig: valuesOf.open.dnsConfig });
    expect(onlyOf(manifests, 'ServiceAccount').metadata.name).toBe('of-mine');
    expect(onlyOf(manifests, 'Service')).toMatchObject({ metadata: { labels: { zone: 'inside', cost: 'network' } } });
    for (const { kind, metadata } of manifests.filter(({ metadata }) => metadata.labels))
      expect(metadata.labels, kind).toMatchObject({ cost: 'network' });
  });

  it('configures TLS and passwords equally in every scraping kind of the Operator', () => {
    const manifests = manifestsOf(valuesOf.tls);
    const { basicAuth, tlsConfig } = valuesOf.tls.serviceMonitor;
    const access = { basicAuth, tlsConfig: { ...tlsConfig, serverName: 'zlb-exporter.monitoring.svc' } };

    expect(onlyOf(manifests, 'ServiceMonitor').spec?.['endpoints']).toMatchObject([{ scheme: 'https', ...access }]);
    expect(onlyOf(manifests, 'ScrapeConfig').spec).toMatchObject({
      scheme: 'HTTPS',
      ...access,
      httpSDConfigs: [{ url: 'https://zlb-exporter.monitoring:9555/sd', ...access }],
    });
  });

  it.each(examples)('accepts the values in its README, line %i', (_, text) => {
    const values = parse(text) as object;
    const { refusal } = render('appliances' in values ? values : { demonstration: true, ...values });

    expect(refusal).toBe('');
  });

  it('creates scrapes and alerts only if the cluster has the kinds of the Operator', () => {
    const values = { demonstration: true };
    const operator = ['monitoring.coreos.com/v1/ServiceMonitor', 'monitoring.coreos.com/v1/PrometheusRule'];
    const kindsOf = (apis: readonly string[]) => manifestsOf(values, apis).map(({ kind }) => kind);
    const before = kindsOf([]);

    expect(
      kindsOf(operator)
        .filter((kind) => !before.includes(kind))
        .toSorted(),
    ).toEqual(['PrometheusRule', 'ServiceMonitor']);
  });

  describe.each(Object.entries(valuesOf))('the chart with the values "%s"', (name, values) => {
    const manifests = helm ? manifestsOf(values) : [];

    it('selects its own pods with every selector', () => {
      const { team: _, cost: __, ...labels } = podOf(manifests).labels;
      const selectors = JSON.stringify(manifests).match(/(?<="(matchLabels|selector)":)\{"app[^}]*\}/g) ?? [];
      const foreign = ['prometheus', 'ingress-nginx'].map((app) => JSON.stringify({ 'app.kubernetes.io/name': app }));

      expect(selectors.length).toBeGreaterThan(2);
      for (const selector of selectors.filter((each) => !foreign.includes(each)))
        expect(JSON.parse(selector)).toEqual(labels);
    });

    it('runs as the user of the image, without a service account', () => {
      const { pod } = podOf(manifests);
      const [, user] = /^USER (\d+):\d+$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];

      expect(pod.automountServiceAccountToken).toBe(false);
      expect(String(pod.securityContext['runAsUser'])).toBe(user);
    });

    it('mounts every volume that it declares', () => {
      const { pod } = podOf(manifests);
      const claims = manifests.flatMap(
        ({ spec }) => (spec?.['volumeClaimTemplates'] as { metadata: { name: string } }[]) ?? [],
      );
      const volumes = [...pod.volumes.map((volume) => volume['name']), ...claims.map(({ metadata }) => metadata.name)];

      expect(new Set(volumes)).toEqual(new Set(pod.containers[0].volumeMounts.map((mount) => mount.name)));
    });

    it('contains no Secret, and nothing too large for the annotation of kubectl apply', () => {
      const large = manifests.filter((manifest) => JSON.stringify(manifest).length > 262_144);

      expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
      expect(large.map(({ metadata }) => metadata.name)).toEqual([]);
    });

    it('starts the exporter with existing flags, and a configuration that it accepts', async () => {
      const args = podOf(manifests).pod.containers[0].args.map((arg) => arg.replace('$(POD_INDEX)', '2'));
      const { flags, positionals } = parseFlags(args);
      const { port } = 'service' in values && 'port' in values.service ? values.service : { port: 9444 };
      const folder = givenFolder();
      mkdirSync(folder, { recursive: true });
      for (const { data } of manifests.filter(({ kind }) => kind === 'ConfigMap'))
        for (const [file, text] of Object.entries(data ?? {})) writeFileSync(join(folder, file), text);

      expect(positionals).toEqual([]);
      expect(flags['web.listen-address']).toBe(`:${port}`);
      expect(flags['config.file']).toBe(name === 'demonstration' ? undefined : '/etc/zlb-exporter/zlb.yml');
      if (name === 'everything') expect(parseShard(String(flags['shard']))).toEqual({ index: 2, count: 3 });
      if (name === 'demonstration') return;
      const text = readFileSync(join(folder, 'appliances.yml'), 'utf8').replaceAll('/run/secrets', folder);
      writeFileSync(join(folder, 'appliances.yml'), text);
      for (const appliance of ['lb-paris', 'lb-rome']) writeFileSync(join(folder, appliance), 'a-key');
      const settings = await loadSettings({ file: join(folder, 'zlb.yml'), env: {} });
      const wanted = 'appliances' in values ? values.appliances : [];
      expect(settings.appliances.map((appliance) => appliance.name)).toEqual(wanted.map((each) => each.name));
      expect(settings.history.file).toBe(
        flags['shard'] || ['gateway', 'requests'].includes(name) ? '/var/lib/zlb-exporter/history.db' : undefined,
      );
      expect(settings.admin?.journalFile).toBe(
        flags['shard'] || name === 'gateway' ? '/var/lib/zlb-exporter/journal.db' : undefined,
      );
    });
  });
});

interface Relabeling {
  readonly action?: string;
  readonly regex?: string;
  readonly targetLabel?: string;
}

describe.skipIf(!helm)('the objects of the Prometheus Operator', () => {
  it('drop each label of the Operator that is one of ours', async () => {
    const { spec } = onlyOf(manifestsOf(valuesOf.gateway), 'ServiceMonitor');
    const endpoints = (spec?.['endpoints'] ?? []) as readonly { readonly relabelings: readonly Relabeling[] }[];
    const relabelings = endpoints.flatMap((endpoint) => endpoint.relabelings);
    const dropped = relabelings.find(({ action }) => action === 'labeldrop')?.regex;
    const ours = new Set([...(await knownSeries()).values()].flatMap(({ labels }) => [...labels]));
    const added = ['namespace', 'service', 'pod', 'container', 'endpoint'];

    expect(added.filter((label) => ours.has(label) && !new RegExp(`^(?:${dropped})$`).test(label))).toEqual([]);
    expect(relabelings.filter(({ targetLabel }) => targetLabel === 'job')).toHaveLength(1);
  });

  it("keep the exporter's own series that the Prometheus example keeps", () => {
    const example = parse(readFileSync('deploy/prometheus/by-appliance.yml', 'utf8')) as {
      readonly scrape_configs: readonly { readonly metric_relabel_configs?: readonly Relabeling[] }[];
    };
    const [kept] = example.scrape_configs.flatMap(({ metric_relabel_configs: configs = [] }) => configs);
    const { spec } = onlyOf(manifestsOf(valuesOf.everything), 'ServiceMonitor');

    expect(JSON.stringify(spec)).toContain(JSON.stringify(kept?.regex));
  });

  it.skipIf(!promtool)('contain the rules of alerts/, with the URLs of the values', () => {
    const { spec } = onlyOf(manifestsOf(valuesOf.everything), 'PrometheusRule');
    const file = join(givenFolder(), 'rules.yml');
    writeFileSync(file, stringify(spec));
    const alertsIn = (text: string): readonly string[] => text.match(/(?<=alert: )Zlb\w+/g) ?? [];
    const shipped = readRuleFiles().join('');

    expect(run(promtool ?? '', ['check', 'rules', file])).toMatchObject({ status: 0, stderr: '' });
    expect(alertsIn(stringify(spec)).toSorted()).toEqual(alertsIn(shipped).toSorted());
    expect(stringify(spec)).not.toContain('runbooks.example');
    expect(stringify(spec)).toContain('https://lb.example.com/');
  });
});
