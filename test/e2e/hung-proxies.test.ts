import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { localAlertmanagerConfiguration, localPrometheusConfiguration } from '../../scripts/stack/configuration.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { httpBackend, httpFarm, l4Backend, l4Farm, service } from '../../simulator/world-parts.ts';
import { makeToken } from '../../src/commands/token.ts';
import { startAdminExporter } from '../support/admin-exporter.ts';
import { givenFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { givenAlertmanager, givenPrometheus, givenReceiver } from '../support/monitoring.ts';
import { runExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { seriesOf, stateOf, valueOf } from '../support/samples.ts';
import { shippedText } from '../support/shipped-rules.ts';
import { until } from '../support/until.ts';

const missing = !(isThere('prometheus') && isThere('prometheus-alertmanager'));
const names = Array.from({ length: 60 }, (_, index) => `shop-${index}`);
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
/** The time for which somebody watches after the fault. */
const watchedMs = 10 * minuteMs;
const apiKey = 'key-of-the-appliance';

/** Fifty HTTP farms, half of them with TLS, and ten L4 farms. */
function givenWorld() {
  const world = recordedWorld();
  world.farms.clear();
  for (const [index, name] of names.entries()) {
    const place = { name, vip: '192.168.101.21', vport: String(8_000 + index) };
    const services = [service('main', { backends: [httpBackend(0, '198.51.100.1', 80)] })];
    const listener = index % 2 === 0 ? 'https' : 'http';
    const farm = httpFarm({ ...place, listener, services });
    world.farms.set(name, index < 50 ? farm : l4Farm({ ...place, backends: [l4Backend(0, '198.51.100.1', 80)] }));
  }
  return world;
}

/** The exporter by its default configuration, the shipped rules and intervals, and a pager. */
async function givenWatch() {
  const appliance = await startSimulatedAppliance({ world: givenWorld(), apiKey, latency: 'realistic' });
  onTestFinished(() => appliance.close());
  const folder = givenFolder();
  const { token, sha256 } = makeToken();
  const configFile = join(folder, 'zlb.yml');
  // JSON is YAML.
  writeFileSync(
    configFile,
    JSON.stringify({
      appliances: [
        {
          name: 'lb-paris',
          url: appliance.url,
          api_key: apiKey,
          tls: { fingerprint_sha256: appliance.fingerprintSha256 },
        },
      ],
      admin: {
        listen_address: '127.0.0.1:0',
        journal_file: join(folder, 'journal.db'),
        tokens: [{ name: 'alice', sha256, role: 'admin' }],
      },
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const exporter = await startAdminExporter(configFile, address);
  const { url: people, deliveries } = await givenReceiver();
  const example = readFileSync(new URL('../../alerts/alertmanager.example.yml', import.meta.url), 'utf8');
  const alertmanager = await givenAlertmanager(localAlertmanagerConfiguration(example, { people }));
  const deployed = readFileSync(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url), 'utf8');
  const targets = { exporter: address, alertmanager: new URL(alertmanager.url).host };
  await givenPrometheus(localPrometheusConfiguration(deployed, targets), { 'zlb.rules.yml': shippedText });
  return {
    appliance,
    /** Reads the metrics, once a second. */
    async metrics() {
      await sleep(secondMs);
      return (await fetch(`${exporter.metricsUrl}/metrics`)).text();
    },
    /** The incidents of a pager, each with what is said of its farms last. */
    pages: () => {
      const incidents = Map.groupBy(
        deliveries().filter(({ receiver }) => receiver.startsWith('page')),
        ({ groupKey }) => groupKey,
      );
      return [...incidents.values()].map((notifications) => {
        const told = notifications.flatMap(({ alerts }) => alerts);
        const last = new Map(told.map(({ status, labels }) => [`${labels['alertname']} ${labels['farm']}`, status]));
        return [...last].map(([about, status]) => `${status} ${about}`).toSorted();
      });
    },
    admin: (...words: readonly string[]) =>
      runExporter(['admin', 'lb-paris', ...words, '--reason=TICKET-42', '--yes'], {
        ZLB_ADMIN_URL: exporter.adminUrl,
        ZLB_ADMIN_TOKEN: token,
      }),
  };
}

it.skipIf(missing).each([1, 3])(
  'with %i of 60 proxies that hang: all others stay fresh for ten minutes, they are one page, and a restart is allowed',
  { timeout: 40 * minuteMs },
  async (count) => {
    const hanging = names.slice(10, 10 + count);
    const others = names.filter((name) => !hanging.includes(name));
    const { appliance, metrics, pages, admin } = await givenWatch();
    await until(metrics, (text) => seriesOf(text, 'zlb_farm_backends', { status: 'up' }).length === 60, 10 * minuteMs);
    await until(
      metrics,
      (text) => others.every((farm) => stateOf(text, 'zlb_farm_status', { farm }) === 'up'),
      minuteMs,
    );
    for (const name of hanging) appliance.world.farms.get(name)!.runState = 'hung';
    const hungAt = Date.now();

    const silentAfter = new Map<string, number>();
    while (Date.now() < hungAt + watchedMs) {
      const text = await metrics();
      const seconds = Math.round((Date.now() - hungAt) / secondMs);
      expect(valueOf(text, 'zlb_up'), `up after ${seconds} s`).toBe(1);
      const stale = others.filter((farm) => stateOf(text, 'zlb_farm_status', { farm }) !== 'up');
      expect(stale, `after ${seconds} s`).toEqual([]);
      const unread = others.filter((farm) => seriesOf(text, 'zlb_farm_backends', { farm }).length === 0);
      expect(unread, `after ${seconds} s`).toEqual([]);
      for (const farm of hanging)
        if (!silentAfter.has(farm) && valueOf(text, 'zlb_farm_proxy_answers', { farm }) === 0)
          silentAfter.set(farm, seconds);
    }
    expect(silentAfter.size).toBe(count);
    expect(Math.max(...silentAfter.values())).toBeLessThanOrEqual(90);
    expect(pages()).toEqual([hanging.map((farm) => `firing ZlbFarmDown ${farm}`)]);

    for (const farm of hanging) {
      const restarted = await admin('restart-farm', `farm=${farm}`);
      expect(restarted.code, restarted.stdout + restarted.stderr).toBe(0);
    }
    const ended = [hanging.map((farm) => `resolved ZlbFarmDown ${farm}`)];
    await until(pages, (incidents) => JSON.stringify(incidents) === JSON.stringify(ended), 10 * minuteMs);
    expect(pages()).toEqual(ended);
  },
);
