import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { parseFlags } from '../../src/commands/flags.ts';
import { givenFolder } from '../support/folder.ts';
import { isThere } from '../support/programs.ts';

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly (string | Mount)[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ulimits?: Readonly<Record<string, number>>;
  readonly mem_limit?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

/** A volume in full. */
interface Mount {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly read_only?: boolean;
  readonly bind?: { readonly create_host_path?: boolean };
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
    const [source = '', target = ''] = typeof volume === 'string' ? volume.split(':') : [volume.source, volume.target];
    return [source.startsWith('.') ? normalize(`deploy/${source}`) : source, target];
  });
}

/** Returns the path in a container of a path of the repository. */
function placeOf(source: string, service: string): string | undefined {
  return mounts(compose.services[service] ?? {}).find(([path]) => path === source)?.[1];
}

describe('deploy/compose.yml', () => {
  it('mounts nothing that is not there', () => {
    const sources = services.flatMap(([, service]) => mounts(service).map(([source]) => source));

    const missing = sources.filter((source) => !existsSync(source) && !Object.hasOwn(compose.volumes, source));

    expect(sources.length).toBeGreaterThan(6);
    expect(missing).toEqual([]);
    expect(Object.keys(compose.volumes).filter((volume) => !sources.includes(volume))).toEqual([]);
  });

  it('gives the exporter as much memory as the unit and the chart do', () => {
    const unit = readFileSync('deploy/systemd/zlb-exporter.service', 'utf8');
    const pod = readFileSync('deploy/helm/zlb-exporter/values.yaml', 'utf8');

    expect(compose.services['exporter']?.mem_limit).toBe('1g');
    expect(unit).toMatch(/^MemoryMax=1G$/m);
    expect(pod).toContain('limits: { memory: 1Gi }');
  });

  it('pins every image to one release, and builds the exporter from this repository', () => {
    const pinned = services.map(([name, { image, build }]) => [
      name,
      image === undefined ? existsSync(`deploy/${build?.context}/Dockerfile`) : /:v?\d+\.\d+\.\d+$/.test(image),
    ]);

    expect(Object.fromEntries(pinned)).toEqual({ exporter: true, prometheus: true, alertmanager: true, grafana: true });
  });

  it.each(services)('gives %s no rights that it does not need', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
    });
    expect(service.ports?.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const writable = service.volumes?.filter((volume) =>
      typeof volume === 'string' ? volume.startsWith('.') && !volume.endsWith(':ro') : !volume.read_only,
    );
    expect(writable ?? []).toEqual([]);
  });

  it.each(services)('knows whether %s is healthy', (_, { healthcheck }) => {
    const own = /^HEALTHCHECK .* CMD/m.test(readFileSync('Dockerfile', 'utf8'));

    expect(healthcheck === undefined ? own : healthcheck.test[0] === 'CMD').toBe(true);
  });

  it('starts the exporter with flags that it has, here and for own appliances', () => {
    const appliances = readYaml<Compose>('deploy/compose.appliances.yml').services['exporter']?.command ?? [];
    const demonstration = compose.services['exporter']?.command ?? [];

    expect(parseFlags(demonstration).flags).toMatchObject({ 'web.listen-address': ':9444' });
    expect(parseFlags(demonstration).flags).not.toHaveProperty(['config.file']);
    expect(parseFlags(appliances).flags).toMatchObject({ 'config.file': '/etc/zlb-exporter/zlb.yml' });
  });

  it('has no password in it: Grafana does not start without one', () => {
    const password = compose.services['grafana']?.environment?.['GF_SECURITY_ADMIN_PASSWORD'];

    expect(password).toMatch(/^\$\{GRAFANA_ADMIN_PASSWORD:\?.+\}$/);
  });
});

describe('deploy/compose.appliances.yml', () => {
  const own = readYaml<Compose>('deploy/compose.appliances.yml').services['exporter'] ?? {};

  it('lets Docker refuse a missing configuration, and not make a folder of its name', () => {
    const mount = own.volumes?.find((volume) => typeof volume !== 'string');

    expect(mount).toEqual({
      type: 'bind',
      source: './zlb.yml',
      target: '/etc/zlb-exporter/zlb.yml',
      read_only: true,
      bind: { create_host_path: false },
    });
    expect(own.command).toContain(`--config.file=${mount?.target}`);
  });
});

describe('deploy/README.md', () => {
  const readme = readFileSync('deploy/README.md', 'utf8');

  it('makes a password that only its owner reads, and keeps it when the commands are given again', () => {
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

  it('stays with the appliances once they are chosen: by files that are there, and by no flag that is easily left out', () => {
    const files = /COMPOSE_FILE=(\S+)/.exec(readme)?.[1]?.split(':') ?? [];

    expect(files).toEqual(['compose.yml', 'compose.appliances.yml']);
    expect(files.filter((file) => !existsSync(`deploy/${file}`))).toEqual([]);
    expect(readme).not.toMatch(/docker compose -f/);
  });

  it('checks the files where they are mounted', () => {
    expect(readme).toContain(`prometheus check config ${placeOf('deploy/prometheus/prometheus.yml', 'prometheus')}\n`);
    expect(readme).toContain(
      `alertmanager check-config ${placeOf('deploy/alertmanager/alertmanager.yml', 'alertmanager')}\n`,
    );
  });
});

describe('Grafana in containers', () => {
  interface DataSources {
    readonly datasources: readonly { readonly uid: string; readonly type: string; readonly url: string }[];
  }
  interface Providers {
    readonly providers: readonly { readonly folder: string; readonly options: { readonly path: string } }[];
  }

  it('has Prometheus as its data source', () => {
    const { datasources } = readYaml<DataSources>('deploy/grafana/provisioning/datasources/prometheus.yml');

    expect(datasources).toMatchObject([{ uid: 'prometheus', type: 'prometheus', url: 'http://prometheus:9090' }]);
    expect(compose.services['prometheus']?.ports).toEqual(['127.0.0.1:9090:9090']);
  });

  it('looks for the dashboards where they are mounted', () => {
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

  it('scrapes the exporter and tells Alertmanager, by the names and ports of their containers', () => {
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

describe('deploy/prometheus/by-appliance.yml', () => {
  it.skipIf(!isThere('promtool'))('is a configuration that promtool accepts', () => {
    const file = 'deploy/prometheus/by-appliance.yml';

    const { status, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
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

  it('has the routes and inhibitions of alerts/alertmanager.example.yml, and receivers that tell nobody', () => {
    expect(config.route, 'copy `route` from the example').toEqual(example.route);
    expect(config.inhibit_rules, 'copy `inhibit_rules` from the example').toEqual(example.inhibit_rules);
    expect(config.receivers).toEqual(example.receivers.map(({ name }) => ({ name })));
  });

  it.skipIf(!isThere('amtool'))('has a configuration that amtool accepts', () => {
    const { status, stdout } = spawnSync('amtool', ['check-config', 'deploy/alertmanager/alertmanager.yml'], {
      encoding: 'utf8',
    });

    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('SUCCESS') as string });
  });
});
