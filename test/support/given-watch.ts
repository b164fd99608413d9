import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { createTlsMaterials } from '../../simulator/tls.ts';
import type { World } from '../../simulator/world.ts';
import { givenFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { givenAlertmanager, givenPrometheus } from './monitoring.ts';
import { givenOnCall } from './on-call.ts';
import { startExporter } from './process.ts';
import { until } from './until.ts';

/**
 * The exporter as a process of its own, with the default configuration but for its appliances and
 * for these collectors. Each appliance has the middle of its name as its site, as `paris` of
 * `lb-paris-1`.
 */
export async function givenExporterOf(
  worlds: ReadonlyMap<string, World>,
  collectors: Readonly<Record<string, object>> = {},
) {
  const apiKey = 'key-of-the-appliance';
  const tls = createTlsMaterials();
  const appliances = new Map(
    await Promise.all(
      [...worlds].map(async ([name, world]) => {
        const appliance = await startSimulatedAppliance({ world, apiKey, tls });
        onTestFinished(() => appliance.close());
        return [name, appliance] as const;
      }),
    ),
  );
  const configFile = join(givenFolder(), 'zlb.yml');
  const fingerprint = { fingerprint_sha256: tls.usual.fingerprintSha256 };
  const entries = [...appliances].map(([name, { url }]) => {
    return { name, url, api_key: apiKey, tls: fingerprint, labels: { site: name.split('-')[1] } };
  });
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ appliances: entries, collectors }));
  const exporter = startExporter([`--config.file=${configFile}`, '--web.listen-address=127.0.0.1:0']);
  return { appliances, address: new URL(await exporter.url()).host };
}

/**
 * Prometheus and two Alertmanagers in a cluster, with the shipped rules, waits and configurations,
 * and a person on call. Nothing is shortened.
 */
export async function givenWatch(exporter: string, { scrapeInterval = '15s' } = {}) {
  const onCall = await givenOnCall();
  const config = onCall.configure(readFileSync('alerts/alertmanager.example.yml', 'utf8'));
  // Older ones than 0.30 send a ticket once after a restart, although a page explains it.
  const hasStartDelay = spawnSync('prometheus-alertmanager', ['--help'])
    .output.join('')
    .includes('--dispatch.start-delay');
  const peers = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const alertmanagers = await Promise.all(
    peers.map((peer) =>
      givenAlertmanager(config, {}, [
        `--cluster.listen-address=${peer}`,
        `--cluster.advertise-address=${peer}`,
        ...peers.filter((other) => other !== peer).map((other) => `--cluster.peer=${other}`),
        ...(hasStartDelay ? ['--dispatch.start-delay=2m30s'] : []),
      ]),
    ),
  );
  const ruleFiles = globSync('alerts/zlb*.rules.yml').map((file) => [basename(file), readFileSync(file, 'utf8')]);
  const prometheus = await givenPrometheus(
    readFileSync('deploy/prometheus/by-appliance.yml', 'utf8')
      .replace('scrape_interval: 15s', `scrape_interval: ${scrapeInterval}`)
      .replaceAll('localhost:9444', exporter)
      .replace("['localhost:9093']", JSON.stringify(alertmanagers.map(({ url }) => new URL(url).host)))
      .replace('../../alerts/', ''),
    Object.fromEntries(ruleFiles) as Readonly<Record<string, string>>,
    [],
  );
  return {
    prometheus,
    alertmanagers,
    hasStartDelay,
    messages: onCall.messages,
    /** Resolves once the rules remember this many farms. */
    knowsFarms: (count: number) =>
      until(
        () => prometheus.query('count(farm:zlb_farm_info:known)').catch(() => []),
        (seen) => seen[0]?.value === count,
        900_000,
      ),
  };
}
