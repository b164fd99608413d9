import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { startFleet } from '../../bench/fleet.ts';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import { collectorDefaults } from '../../src/collectors/registry.ts';
import { noThreads } from './no-threads.ts';
import { settingsOf } from './settings.ts';

const apiKey = 'canary0123456789';
const labels = { site: 'test' };
const everySecond = '* * * * * *';

export interface GivenExporterOptions {
  /** Collectors that run every second on the appliances with a world of their own. */
  readonly eager?: readonly string[];
  readonly twins?: readonly (readonly string[])[];
  /**
   * Further appliances, all alike, in a process of their own. Only their `eager` collectors are
   * read: the first round of all of them keeps a small machine busy for minutes.
   */
  readonly fleet?: { readonly appliances: number; readonly farms: number; readonly backendsPerFarm: number };
}

/** The whole exporter on simulated appliances, in this process; all of it ends with the test. */
export async function givenExporter(worlds: Readonly<Record<string, World>>, options: GivenExporterOptions = {}) {
  const appliances: SimulatedAppliance[] = [];
  const watchedAppliances: object[] = [];
  for (const [name, world] of Object.entries(worlds)) {
    const appliance = await startSimulatedAppliance({ world, apiKey });
    onTestFinished(() => appliance.close());
    appliances.push(appliance);
    watchedAppliances.push(watched(name, appliance, options.eager ?? []));
  }
  if (options.fleet) {
    const fleet = await startFleet(options.fleet, 'realistic');
    onTestFinished(() => fleet.stop());
    const collectors = allBut(options.eager ?? []);
    watchedAppliances.push(...fleet.entries.map((entry) => ({ ...entry, labels, collectors })));
  }
  let daemon: Daemon | undefined;
  const start = async (port = 0): Promise<string> => {
    daemon = await startDaemon({
      settings: await settingsOf({
        appliances: watchedAppliances,
        twins: options.twins ?? [],
        // A thousand appliances answer late at first: they and the exporter share this machine.
        polling: { timeout: options.fleet ? '30s' : '5s', max_busy_ratio: 1, jitter: 0 },
        limits: { series_per_appliance: 500_000, body_bytes: '32MiB' },
      }),
      listenAddress: `127.0.0.1:${port}`,
      build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
      log: pino({ level: 'silent' }),
      now: Date.now,
      random: () => 0.5,
      ...noThreads,
    });
    return daemon.url;
  };
  const stop = async (): Promise<void> => {
    await daemon?.close();
    daemon = undefined;
  };
  onTestFinished(stop);
  return { url: await start(), start, stop, appliances };
}

function allBut(read: readonly string[]): object {
  const others = [...collectorDefaults.keys()].filter((name) => !read.includes(name));
  return Object.fromEntries(others.map((name) => [name, { enabled: false }]));
}

function watched(
  name: string,
  { url, fingerprintSha256 }: Pick<SimulatedAppliance, 'url' | 'fingerprintSha256'>,
  eager: readonly string[],
): object {
  return {
    name,
    url,
    api_key: apiKey,
    tls: { fingerprint_sha256: fingerprintSha256 },
    labels,
    collectors: Object.fromEntries(eager.map((collector) => [collector, { schedule: everySecond }])),
  };
}
