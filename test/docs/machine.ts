import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localAlertmanagerConfiguration, localPrometheusConfiguration } from '../../scripts/stack/configuration.ts';
import { startAlertmanager } from '../../scripts/stack/alertmanager.ts';
import { type Program, startProgram } from '../../scripts/stack/program.ts';
import { startPrometheus } from '../../scripts/stack/prometheus.ts';
import { ready } from '../../scripts/stack/server.ts';
import { makeToken } from '../../src/commands/make-token.ts';
import { createActivationCertificate } from '../../src/simulator/licence.ts';
import { busyWorld, deactivatedWorld, expiringWorld, healthyPair } from '../../src/simulator/scenarios.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../src/simulator/server.ts';
import type { World } from '../../src/simulator/world.ts';
import { freePort } from '../support/monitoring.ts';
import { makeMaterial, type Material } from '../support/tls-server.ts';
import { root } from './documents.ts';
import { typedCommand } from './typed-command.ts';

export type ApplianceName = keyof typeof worlds;

export interface Substitution {
  readonly written: RegExp;
  readonly real: string;
  /** What is shown in place of `real` where it is printed. */
  readonly shown?: string;
}

/** What the documents suppose around their reader: a clone, an exporter on appliances that bear the names of the examples. */
export interface Machine {
  /** Where commands are typed. */
  readonly folder: string;
  /** The environment in which they are. */
  readonly env: Readonly<Record<string, string>>;
  /** What the documents write, and what stands for it here. */
  readonly substitutions: readonly Substitution[];
  /** Puts the appliances back to where they began. */
  reset(): Promise<Record<ApplianceName, World>>;
  close(): Promise<void>;
}

/** What the commands are, beside ours. */
export const neededPrograms: readonly string[] = [
  'jq',
  'curl',
  'openssl',
  'prometheus',
  'promtool',
  'prometheus-alertmanager',
  'amtool',
];

const dayMs = 86_400_000;
const worlds = {
  'lb-paris-1': () => healthyPair()[0],
  'lb-paris-2': () => healthyPair()[1],
  'lb-madrid': busyWorld,
  'lb-berlin': expiringWorld,
  'lb-lisbon': deactivatedWorld,
} as const satisfies Readonly<Record<string, () => World>>;
const names = Object.keys(worlds) as readonly ApplianceName[];
const apiKey = 'key-of-the-appliances';

/** Starts all of it, Prometheus with the alerts and Alertmanager as well. */
export async function startMachine(): Promise<Machine> {
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), 'zlb-docs-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const appliances = await Promise.all(
      names.map((name) => startSimulatedAppliance({ world: worlds[name](), apiKey })),
    );
    closing.push(() => Promise.all(appliances.map((appliance) => appliance.close())));
    const [served, { token, sha256 }] = [await makeMaterial({ name: 'portal.example.com' }), makeToken()];
    const farmPort = await serve(served, closing);
    const [metricsPort, gatewayPort] = [await freePort(), await freePort()];
    await layOut({ folder, appliances, sha256, served, gatewayPort, metricsPort });
    closing.push(await startExporter(folder, metricsPort));
    const servers = await startMonitoring(folder, metricsPort, closing);

    return {
      folder,
      env: {
        PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
        HOME: folder,
        LANG: 'C.UTF-8',
        NODE_COMPILE_CACHE: join(tmpdir(), 'zlb-docs-compiled'),
        ZLB_ADMIN_TOKEN: token,
        ZLB_ADMIN_URL: `http://127.0.0.1:${gatewayPort}`,
      },
      substitutions: [
        ...addresses({ 9444: metricsPort, 9445: gatewayPort, 9090: servers.prometheus, 9093: servers.alertmanager }),
        { written: /(?<==):9444\b/g, real: `:${metricsPort}` },
        { written: /\bZLB_ADMIN_TOKEN=\S*…/g, real: `ZLB_ADMIN_TOKEN=${token}` },
        // The management of an appliance, and what its farm shows to users.
        { written: /\b192\.0\.2\.1\d:444\b/g, real: new URL(appliances[0]?.url ?? '').host, shown: '192.0.2.10:444' },
        { written: /\bvip=[\d.]+ vport=\d+/g, real: `vip=127.0.0.1 vport=${farmPort}` },
      ],
      async reset() {
        const fresh = names.map((name) => [name, worlds[name]()] as const);
        for (const [index, [, world]] of fresh.entries()) Object.assign(appliances[index]?.world ?? {}, world);
        return Object.fromEntries(names.map((name, index) => [name, appliances[index]?.world])) as Record<
          ApplianceName,
          World
        >;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The addresses of the documents, and those that were free. */
function addresses(ports: Readonly<Record<number, number>>): readonly Substitution[] {
  return Object.entries(ports).map(([documented, port]) => ({
    written: new RegExp(`\\b(?:localhost|127\\.0\\.0\\.1):${documented}\\b`, 'g'),
    real: `127.0.0.1:${port}`,
    shown: `127.0.0.1:${documented}`,
  }));
}

interface Layout {
  readonly folder: string;
  readonly appliances: readonly SimulatedAppliance[];
  readonly sha256: string;
  readonly served: Material;
  readonly gatewayPort: number;
  readonly metricsPort: number;
}

/** The files that the documents speak of, by the names that they use. */
async function layOut({ folder, appliances, sha256, served, gatewayPort, metricsPort }: Layout): Promise<void> {
  for (const name of ['alerts', 'deploy', 'dashboards'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ['src', 'scripts', 'node_modules', 'package.json', 'docs'])
    symlinkSync(join(root, name), join(folder, name));
  for (const name of ['bin', 'secrets', 'data']) mkdirSync(join(folder, name));
  for (const name of ['zlb-exporter', 'npm'] as const)
    writeFileSync(join(folder, 'bin', name), typedCommand(name), { mode: 0o755 });
  const watched = {
    appliances: appliances.map(({ url, fingerprintSha256 }, index) => ({
      name: names[index],
      url,
      api_key_file: 'secrets/lb-paris',
      tls: { fingerprint_sha256: fingerprintSha256 },
      labels: { site: names[index]?.split('-')[1] },
    })),
  };
  const admin = {
    listen_address: `127.0.0.1:${gatewayPort}`,
    audit_file: 'data/audit.jsonl',
    tokens: [{ name: 'alice', sha256, role: 'admin' }],
  };
  const newCertificate = async (name: string) =>
    Object.values(await makeMaterial({ name }))
      .slice(0, 2)
      .join('\n');
  const licence = { kind: 'permanent', notBefore: Date.now() - dayMs, notAfter: Date.now() + 600 * dayMs } as const;
  const files = {
    'secrets/lb-paris': apiKey,
    // JSON is YAML. A reader who checks or starts something has no gateway that runs already in the file.
    'zlb.yml': JSON.stringify(watched),
    'running.yml': JSON.stringify({ ...watched, admin }),
    'prometheus.yml': localPrometheusConfiguration(
      readFileSync(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8'),
      {
        exporter: `localhost:${metricsPort}`,
        alertmanager: 'localhost:9093',
      },
    ),
    'zlb.rules.yml': readFileSync(join(root, 'alerts/zlb.rules.yml')),
    'web.yml': JSON.stringify({ tls_server_config: { cert_file: 'server.crt', key_file: 'server.key' } }),
    'server.crt': served.cert,
    'server.key': served.key,
    'shop-2027.pem': await newCertificate('shop.example.com'),
    'portal-2027.pem': await newCertificate('portal.example.com'),
    'activation.pem': await createActivationCertificate({ ...licence, hostname: 'lb-lisbon' }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
}

/** What a farm shows to its users. */
async function serve({ key, cert }: Material, closing: (() => unknown)[]): Promise<number> {
  const server = createServer({ key, cert }, (socket) => socket.on('error', () => undefined).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** The exporter that runs already when somebody reads the documents; its log is in `exporter.log`. */
async function startExporter(folder: string, port: number): Promise<() => Promise<void>> {
  const exporter = await startProgram({
    name: 'the exporter',
    command: '/bin/sh',
    args: [
      '-c',
      `exec "${process.execPath}" "${root}src/main.ts" --config.file="${folder}/running.yml" \
        --web.listen-address=127.0.0.1:${port} --web.enable-lifecycle 2>"${folder}/exporter.log"`,
    ],
    remedy: 'is there a shell?',
  });
  await orStop(exporter, `http://127.0.0.1:${port}/-/healthy`);
  return exporter.stop;
}

async function orStop(program: Program, page: string): Promise<void> {
  try {
    await ready(program, page);
  } catch (error) {
    await program.stop();
    throw error;
  }
}

async function startMonitoring(folder: string, metricsPort: number, closing: (() => unknown)[]) {
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()];
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const alertmanager = await startAlertmanager({
    folder: join(folder, 'alertmanager'),
    address: `127.0.0.1:${alertmanagerPort}`,
    config: localAlertmanagerConfiguration(read('alerts/alertmanager.example.yml'), 'http://127.0.0.1:9/'),
  });
  closing.push(alertmanager.stop);
  const prometheus = await startPrometheus({
    folder: join(folder, 'prometheus'),
    address: `127.0.0.1:${prometheusPort}`,
    config: localPrometheusConfiguration(read('deploy/prometheus/prometheus.yml'), {
      exporter: `127.0.0.1:${metricsPort}`,
      alertmanager: `127.0.0.1:${alertmanagerPort}`,
    }).replaceAll('15s', '1s'),
    files: { 'zlb.rules.yml': read('alerts/zlb.rules.yml') },
  });
  closing.push(prometheus.stop);
  return { prometheus: prometheusPort, alertmanager: alertmanagerPort };
}
