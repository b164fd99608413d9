import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { startAlertmanager, startPrometheus } from '../../scripts/stack/server.ts';
import { localAlertmanagerConfiguration, localPrometheusConfiguration } from '../../scripts/stack/configuration.ts';
import { ready, startProgram } from '../../scripts/stack/program.ts';
import { makeToken } from '../../src/commands/token.ts';
import { freePort } from '../support/free-port.ts';
import { makeMaterial } from '../support/tls-server.ts';
import type { TlsMaterial } from '../../simulator/tls.ts';
import { startAppliances, type Worlds } from './appliances.ts';
import { layOutClone } from './clone.ts';
import { root } from './documents.ts';

/**
 * The environment that the documents assume: a clone, and an exporter of the appliances of the
 * examples.
 */
export interface Machine {
  /** The folder in which commands are typed. */
  readonly folder: string;
  /** The environment in which they are. */
  readonly env: Readonly<Record<string, string>>;
  readonly substitutions: readonly Substitution[];
  /** Puts the appliances back to where they began. */
  reset(): Worlds;
  close(): Promise<void>;
}

/** A text of the documents, and its replacement here. */
export interface Substitution {
  readonly written: RegExp;
  readonly real: string;
  /** The text that is printed instead of `real`. */
  readonly shown?: string;
}

type Ports = Readonly<Record<'exporter' | 'gateway' | 'prometheus' | 'alertmanager' | 'farm', number>>;
type Close = () => unknown;

interface MachineOptions {
  /** The folder in which that of the machine is made. */
  readonly parent?: string;
  /** False for one without Prometheus and Alertmanager. */
  readonly hasAlerts?: boolean;
}

/** Starts all of it, Prometheus with the alerts and Alertmanager as well. */
export async function startMachine({ parent = tmpdir(), hasAlerts = true }: MachineOptions = {}): Promise<Machine> {
  const closing: Close[] = [];
  const close = async () => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const folder = mkdtempSync(join(parent, 'zlb-docs-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const apiKey = 'key-of-the-appliances';
    const appliances = await startAppliances(apiKey);
    closing.push(appliances.close);
    const [served, { token, sha256 }] = [makeMaterial({ name: 'portal.example.com' }), makeToken()];
    const ports = {
      exporter: await freePort(),
      gateway: await freePort(),
      prometheus: await freePort(),
      alertmanager: await freePort(),
      farm: await serve(served, closing),
    };
    const [exporterAddress, gatewayAddress] = [`127.0.0.1:${ports.exporter}`, `127.0.0.1:${ports.gateway}`];
    await layOutClone({ folder, appliances, apiKey, sha256, served, exporterAddress, gatewayAddress });
    await startExporter(folder, exporterAddress, closing);
    if (hasAlerts) await startMonitoring(folder, ports, closing);

    return {
      folder,
      env: {
        PATH: join(folder, 'bin'),
        HOME: folder,
        TMPDIR: folder,
        LANG: 'C.UTF-8',
        // Hundreds of starts of the same program.
        NODE_COMPILE_CACHE: join(folder, '.compiled'),
        ZLB_CONFIG_FILE: 'zlb.yml',
        ZLB_ADMIN_TOKEN: token,
        ZLB_ADMIN_URL: `http://${gatewayAddress}`,
        ZLB_EXPORTER_URL: `http://${exporterAddress}`,
      },
      substitutions: substitutions(ports, token, new URL(appliances.all.get('lb-paris')?.url ?? '').host),
      reset: appliances.reset,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function substitutions(ports: Ports, token: string, managementAddress: string): readonly Substitution[] {
  const { exporter, gateway, prometheus, alertmanager, farm } = ports;
  return [
    ...Object.entries({ 9444: exporter, 9445: gateway, 9090: prometheus, 9093: alertmanager }).map(
      ([documented, port]) => ({
        written: new RegExp(`\\b(?:localhost|127\\.0\\.0\\.1):${documented}\\b`, 'g'),
        real: `127.0.0.1:${port}`,
        shown: `127.0.0.1:${documented}`,
      }),
    ),
    { written: /(?<==):9444\b/g, real: `:${exporter}` },
    { written: /\bZLB_ADMIN_TOKEN=\S*…/g, real: `ZLB_ADMIN_TOKEN=${token}` },
    { written: /\b192\.0\.2\.1\d:444\b/g, real: managementAddress, shown: '192.0.2.10:444' },
    { written: /\/etc\/zlb-exporter\/keys\/(?:\$appliance|lb-paris\b)/g, real: 'secrets/lb-paris' },
    // The gateway, and so the journal, is that of the running exporter.
    { written: /\/var\/lib\/zlb-exporter\/journal\.db/g, real: 'data/journal.db' },
    { written: /(?<=\baudit \w+ --config\.file=)zlb\.yml/g, real: 'running.yml' },
    // A farm, as its users see it.
    { written: /\bvip=[\d.]+ vport=\d+/g, real: `vip=127.0.0.1 vport=${farm}` },
  ];
}

/** Serves the website of a farm. */
async function serve({ key, cert }: TlsMaterial, closing: Close[]): Promise<number> {
  const server = createServer({ key, cert }, (socket) => socket.on('error', () => undefined).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** The exporter that runs when somebody reads the documents. */
async function startExporter(folder: string, address: string, closing: Close[]): Promise<void> {
  const words = [
    process.execPath,
    `${root}src/main.ts`,
    '--config.file=running.yml',
    `--web.listen-address=${address}`,
  ];
  const exporter = await startProgram({
    name: 'the exporter',
    command: 'bash',
    args: ['-c', 'cd "$1" && shift && exec "$@"', 'bash', folder, ...words],
    remedy: 'is there a shell?',
  });
  closing.push(exporter.stop);
  await ready(exporter, `http://${address}/-/healthy`);
}

async function startMonitoring(folder: string, ports: Ports, closing: Close[]): Promise<void> {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const alertmanager = await startAlertmanager({
    folder: join(folder, 'alertmanager'),
    address: `127.0.0.1:${ports.alertmanager}`,
    config: localAlertmanagerConfiguration(read('alerts/alertmanager.example.yml'), { people: 'http://127.0.0.1:9/' }),
  });
  closing.push(alertmanager.stop);
  const prometheus = await startPrometheus({
    folder: join(folder, 'prometheus'),
    address: `127.0.0.1:${ports.prometheus}`,
    config: localPrometheusConfiguration(read('deploy/prometheus/prometheus.yml'), {
      exporter: `127.0.0.1:${ports.exporter}`,
      alertmanager: `127.0.0.1:${ports.alertmanager}`,
    }).replaceAll('15s', '5s'),
    files: Object.fromEntries(ruleFiles.map((name) => [name, read(`alerts/${name}`)])),
  });
  closing.push(prometheus.stop);
}
