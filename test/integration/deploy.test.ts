import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { parseFlags } from '../../src/commands/parse-flags.ts';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ulimits?: Readonly<Record<string, number>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const compose = readYaml<Compose>('deploy/compose.yml');
const services = Object.entries(compose.services);

function readYaml<Document>(file: string): Document {
  return parse(readFileSync(file, 'utf8'), { merge: true }) as Document;
}

/**
 * The mounts of a service as `[source, target]`; a source of the repository is a path from its
 * root.
 */
function mounts({ volumes = [] }: Service): readonly (readonly [string, string])[] {
  return volumes.map((volume) => {
    const [source = '', target = ''] = volume.split(':');
    return [source.startsWith('.') ? normalize(`deploy/${source}`) : source, target];
  });
}

/** Returns the path in a container of a path of the repository. */
function placeOf(source: string, service: string): string | undefined {
  return mounts(compose.services[service] ?? {}).find(([path]) => path === source)?.[1];
}

describe('deploy/compose.yml', () => {
  it('mounts only paths that exist', () => {
    const sources = services.flatMap(([, service]) => mounts(service).map(([source]) => source));

    const missing = sources.filter((source) => !existsSync(source) && !Object.hasOwn(compose.volumes, source));

    expect(sources.length).toBeGreaterThan(6);
    expect(missing).toEqual([]);
    expect(Object.keys(compose.volumes).filter((volume) => !sources.includes(volume))).toEqual([]);
  });

  it.each(services)('grants %s no unnecessary rights', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
    });
    expect(service.ports?.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const writable = service.volumes?.filter((volume) => volume.startsWith('.') && !volume.endsWith(':ro'));
    expect(writable ?? []).toEqual([]);
  });

  it('contains no password: Grafana does not start without one', () => {
    const password = compose.services['grafana']?.environment?.['GF_SECURITY_ADMIN_PASSWORD'];

    expect(password).toMatch(/^\$\{GRAFANA_ADMIN_PASSWORD:\?.+\}$/);
  });

  it('pins every image to one release', () => {
    const images = services.flatMap(([, { image }]) => image ?? []);

    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
  });

  it('tells Docker to create no folder where the configuration of the appliances is missing', () => {
    expect(readFileSync('deploy/compose.appliances.yml', 'utf8')).toContain('create_host_path: false');
  });

  it('starts the exporter with existing flags, here and for own appliances', () => {
    const appliances = readYaml<Compose>('deploy/compose.appliances.yml').services['exporter']?.command ?? [];
    const demonstration = compose.services['exporter']?.command ?? [];

    expect(parseFlags(demonstration).flags).toMatchObject({ 'web.listen-address': ':9444' });
    expect(parseFlags(demonstration).flags).not.toHaveProperty(['config.file']);
    expect(parseFlags(appliances).flags).toMatchObject({ 'config.file': '/etc/zlb-exporter/zlb.yml' });
  });
});

describe('deploy/README.md', () => {
  const readme = readFileSync('deploy/README.md', 'utf8');

  it('creates a password that only its owner reads, and keeps it when the commands run again', () => {
    const folder = givenFolder();
    const command = /^.*GRAFANA_ADMIN_PASSWORD=.*$/m.exec(readme)?.[0] ?? '';
    const make = () => {
      expect(spawnSync('sh', ['-ec', command], { cwd: folder, encoding: 'utf8' })).toMatchObject({ status: 0 });
      return readFileSync(join(folder, '.env'), 'utf8');
    };

    const first = make();

    expect(first).toMatch(/^GRAFANA_ADMIN_PASSWORD=[0-9a-f]{32}\n$/);
    expect(make()).toBe(first);
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
  });

  it('checks the files where they are mounted', () => {
    expect(readme).toContain(`prometheus check config ${placeOf('deploy/prometheus/prometheus.yml', 'prometheus')}\n`);
    expect(readme).toContain(
      `alertmanager check-config ${placeOf('deploy/alertmanager/alertmanager.yml', 'alertmanager')}\n`,
    );
  });
});

describe('Grafana in containers', () => {
  interface Providers {
    readonly providers: readonly { readonly folder: string; readonly options: { readonly path: string } }[];
  }

  it('finds the dashboards where they are mounted', () => {
    const { providers } = readYaml<Providers>('deploy/grafana/provisioning/dashboards/zlb.yml');

    expect(providers).toMatchObject([
      { folder: 'Load balancers', options: { path: placeOf('dashboards', 'grafana') ?? 'not mounted' } },
    ]);
    expect(placeOf('deploy/grafana/provisioning', 'grafana')).toBe('/etc/grafana/provisioning');
  });
});

describe('Prometheus in containers', () => {
  interface PrometheusConfig {
    readonly rule_files: readonly string[];
    readonly scrape_configs: readonly { job_name: string; static_configs: readonly { targets: readonly string[] }[] }[];
    readonly alerting: { alertmanagers: readonly { static_configs: readonly { targets: readonly string[] }[] }[] };
  }
  const config = readYaml<PrometheusConfig>('deploy/prometheus/prometheus.yml');

  it('scrapes the exporter and notifies Alertmanager by the container names and ports', () => {
    const targets = [...config.scrape_configs, ...config.alerting.alertmanagers].flatMap(({ static_configs }) =>
      static_configs.flatMap(({ targets }) => targets),
    );

    expect(targets).toEqual(['exporter:9444', 'alertmanager:9093']);
    for (const target of targets) {
      const [name = '', port] = target.split(':');
      expect(compose.services[name]?.ports, name).toEqual([`127.0.0.1:${port}:${port}`]);
    }
    expect(config.scrape_configs.map(({ job_name }) => job_name)).toEqual(['zlb']);
  });

  it.skipIf(!isThere('promtool'))('has a configuration that promtool accepts, with the rules beside it', () => {
    const folder = givenFolder();
    for (const source of ['deploy/prometheus/prometheus.yml', ...ruleFiles.map((name) => `alerts/${name}`)]) {
      const place = placeOf(source, 'prometheus') ?? '';
      expect(place).toMatch(/^\/etc\/prometheus\/[\w.-]+$/);
      copyFileSync(source, join(folder, place.replace('/etc/prometheus/', '')));
    }

    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', `${folder}/prometheus.yml`], {
      encoding: 'utf8',
    });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
  });
});

describe('Alertmanager in containers', () => {
  interface AlertmanagerConfig {
    readonly route: unknown;
    readonly inhibit_rules: unknown;
    readonly receivers: readonly { readonly name: string }[];
  }
  const config = readYaml<AlertmanagerConfig>('deploy/alertmanager/alertmanager.yml');
  const example = readYaml<AlertmanagerConfig>('alerts/alertmanager.example.yml');

  it('uses the routes and inhibitions of alerts/alertmanager.example.yml, with receivers that notify nobody', () => {
    expect(config.route, 'copy `route` from the example').toEqual(example.route);
    expect(config.inhibit_rules, 'copy `inhibit_rules` from the example').toEqual(example.inhibit_rules);
    expect(config.receivers).toEqual(example.receivers.map(({ name }) => ({ name })));
  });
});
