import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { localAlertmanagerConfiguration } from '../../scripts/stack/configuration.ts';
import { collectorDefaults } from '../../src/collectors/registry.ts';
import { makeToken } from '../../src/commands/token.ts';
import { expiringWorld } from '../../simulator/scenes/expiring.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import { certificate } from '../../simulator/world-parts.ts';
import { givenFolder } from './folder.ts';
import { shippedText, withWaits } from './shipped-rules.ts';
import { startAdminExporter } from './admin-exporter.ts';
import { freePort } from './free-port.ts';
import { givenAlertmanager, givenPrometheus, givenReceiver } from './monitoring.ts';
import { runExporter } from './process.ts';
import { until } from './until.ts';

const alertsFolder = new URL('../../alerts/', import.meta.url);
const rulesFile = 'zlb.rules.yml';
const maxWaitMs = 90_000;
const dayMs = 86_400_000;

interface Rules {
  readonly groups: readonly { readonly rules: readonly Record<string, unknown>[] }[];
}

/** The shipped rules, but that nothing waits longer than a few seconds, not even a group. */
function hurried(rules: string): string {
  const short = [
    ['[2m]', '[5s]'],
    // The first scrape of a busy machine is late, and until then nothing is watched.
    ['alone <= time() - 300', 'alone <= time() - 15'],
    ['none <= time() - 300', 'none <= time() - 15'],
    // Longer than a restart of the appliance in these scenes.
    ['gone <= time() - 420', 'gone <= time() - 30'],
    // Longer than its last answers outlast its last list of farms.
    ['blind <= time() - 180', 'blind <= time() - 6'],
    ['< time() - 90', '< time() - 5'],
    // How long outages were together.
    ['[1h]) > 240', '[1h]) > 4'],
    ['[3h]) > 600', '[3h]) > 10'],
    ['since > 180', 'since > 3'],
  ] as const;
  const changed = short.reduce((text, [long, shorter]) => text.replaceAll(long, shorter), rules);
  const text = withWaits(changed, 2).replaceAll('away <= time() - 30', 'away <= time() - 1');
  const { groups } = parse(text) as Rules;
  return stringify({
    groups: groups.map((group) => ({
      ...group,
      interval: '1s',
      rules: group.rules.map((rule) => ({
        ...rule,
        ...('for' in rule ? { for: '2s' } : {}),
        ...('keep_firing_for' in rule ? { keep_firing_for: '3s' } : {}),
      })),
    })),
  });
}

function shipped(file: string): string {
  return readFileSync(new URL(file, alertsFolder), 'utf8');
}

/**
 * Prometheus with the shipped rules and Alertmanager with the shipped routes and inhibitions, as
 * processes of their own, and a receiver of notifications. Times are shortened, expressions and
 * thresholds are not. `targets` are the exporters, as `host:port`.
 */
async function givenAlertsOf(targets: readonly string[]) {
  const { url: receiverUrl, deliveries } = await givenReceiver();
  const alertmanager = await givenAlertmanager(
    localAlertmanagerConfiguration(
      shipped('alertmanager.example.yml'),
      { people: receiverUrl },
      { groupWait: '1s', groupInterval: '1s' },
    ),
  );
  const prometheus = await givenPrometheus(prometheusConfiguration(targets, new URL(alertmanager.url).host), {
    [rulesFile]: hurried(shippedText),
  });

  /** Every notification about an alert in its order, as `firing` or `resolved`. */
  const heard = (alertname: string, labels: Readonly<Record<string, string>> = {}) =>
    deliveries().flatMap(({ alerts, receiver, receivedAt }) =>
      alerts
        .filter((alert) =>
          Object.entries({ alertname, ...labels }).every(([name, value]) => alert.labels[name] === value),
        )
        .map(({ status, annotations }) => ({ status, receiver, annotations, receivedAt })),
    );

  /** Every page in its order, as a line. */
  const pages = () =>
    deliveries()
      .filter(({ receiver }) => receiver.startsWith('page'))
      .flatMap(({ alerts }) =>
        alerts.map(({ status, labels }) => `${status} ${labels['alertname']} ${labels['farm'] ?? labels['appliance']}`),
      );

  /**
   * A line for each alert of each notification, for who has to find out why another did not come.
   */
  const everythingHeard = () =>
    deliveries().flatMap(({ alerts, receivedAt }) =>
      alerts.map(({ status, labels }) => `${new Date(receivedAt).toISOString()} ${status} ${labels['alertname']}`),
    );

  /** Waits until the last word of Alertmanager on an alert is this one. */
  async function told(
    status: 'firing' | 'resolved',
    alertname: string,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<ReturnType<typeof heard>[number]> {
    const last = await until(
      () => ({ word: heard(alertname, labels).at(-1), before: everythingHeard() }),
      ({ word }) => word?.status === status,
      maxWaitMs,
    );
    return last.word!;
  }

  return { alertmanager, prometheus, heard, pages, told };
}

/**
 * The whole chain from a simulated appliance to a receiver of notifications, every link a process
 * of its own but the first and the last: see {@link givenAlertsOf}. Readings are dropped at the age
 * of `maxStale`.
 */
export async function givenAlerting(world: World, { maxStale = '5s' } = {}) {
  const folder = givenFolder();
  const apiKey = 'key-of-the-appliance';
  const appliance = await startSimulatedAppliance({ world, apiKey });
  onTestFinished(() => appliance.close());
  const { token, sha256 } = makeToken();
  const configFile = join(folder, 'zlb.yml');
  const tls = { fingerprint_sha256: appliance.fingerprintSha256 };
  const appliances = [{ name: 'lb-paris', url: appliance.url, api_key: apiKey, tls }];
  writeFileSync(configFile, hurriedConfiguration(appliances, { sha256, folder, maxStale }));
  const address = `127.0.0.1:${await freePort()}`;
  let exporter = await startAdminExporter(configFile, address);

  const alerting = await givenAlertsOf([address]);

  return {
    appliance,
    ...alerting,
    /** `zlb-exporter admin …` through the gateway, as a person types it. */
    admin: (...words: readonly string[]) =>
      runExporter(['admin', 'lb-paris', ...words, '--reason=TICKET-42', '--yes'], {
        ZLB_ADMIN_URL: exporter.adminUrl,
        ZLB_ADMIN_TOKEN: token,
      }),
    killExporter: () => exporter.stop('SIGKILL'),
    async startExporterAgain() {
      exporter = await startAdminExporter(configFile, address);
    },
  };
}

/**
 * Returns the shipped configuration with these addresses, which scrapes and evaluates each second.
 */
function prometheusConfiguration(targets: readonly string[], alertmanager: string): string {
  const text = readFileSync(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url), 'utf8');
  return text
    .replaceAll(/_interval: \w+/g, '_interval: 1s')
    .replace('[zlb*.rules.yml]', `[${rulesFile}]`)
    .replace("['exporter:9444']", JSON.stringify(targets))
    .replace("['alertmanager:9093']", JSON.stringify([alertmanager]));
}

/** Returns a configuration that reads everything every second. JSON is YAML. */
function hurriedConfiguration(
  appliances: readonly object[],
  { sha256, folder, maxStale }: Readonly<Record<'sha256' | 'folder' | 'maxStale', string>>,
): string {
  return JSON.stringify({
    appliances,
    collectors: {
      ...Object.fromEntries(
        [...collectorDefaults.keys()].map((name) => [
          name,
          { enabled: true, schedule: '* * * * * *', max_stale: name === 'certificates' ? '24h' : maxStale },
        ]),
      ),
      // It connects to farms, and none of them listens.
      vip: { enabled: false },
    },
    polling: { max_busy_ratio: 1, jitter: '0%' },
    admin: {
      listen_address: '127.0.0.1:0',
      journal_file: join(folder, 'journal.db'),
      tokens: [{ name: 'alice', sha256, role: 'admin' }],
    },
  });
}

/**
 * An appliance on which all is well: one HTTPS farm with two backends, a certificate and a licence
 * for a year.
 */
export function healthyWorld(): World {
  const world = expiringWorld();
  world.certificates.clear();
  const fine = certificate('portal.pem', { notBefore: Date.now() - dayMs, notAfter: Date.now() + 365 * dayMs });
  world.certificates.set(fine.file, fine);
  portalOf(world).certificates = [fine.file];
  world.activation.installed = { ...licenceOf(world), notAfter: Date.now() + 365 * dayMs };
  return world;
}

export function portalOf(world: World) {
  const portal = world.farms.get('portal');
  if (portal?.profile !== 'http') throw new Error('the scene has lost its farm');
  return portal;
}

function licenceOf(world: World) {
  if (!world.activation.installed) throw new Error('the scene has lost its licence');
  return world.activation.installed;
}

export function setBackends(world: World, status: 'up' | 'down'): void {
  for (const backend of portalOf(world).services.flatMap(({ backends }) => backends)) backend.status = status;
}
