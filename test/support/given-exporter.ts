import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { startChild } from '../../bench/child.ts';
import { collectorDefaults } from '../../src/collectors/defaults.ts';
import type { ApplianceSettings, Settings } from '../../src/config/settings.ts';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { Secret } from '../../src/lib/secret.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../src/simulator/server.ts';
import type { World } from '../../src/simulator/world.ts';

const apiKey = 'canary0123456789';
const everySecond = '* * * * * *';

export interface GivenExporterOptions {
  /** Collectors that run every second on the appliances with a world of their own. */
  readonly eager?: readonly string[];
  /** Further appliances, all alike, in a process of their own. */
  readonly crowd?: { readonly appliances: number; readonly farms: number; readonly backendsPerFarm: number };
}

/** The whole exporter on simulated appliances, in this process; all of it ends with the test. */
export async function givenExporter(worlds: Readonly<Record<string, World>>, options: GivenExporterOptions = {}) {
  const appliances: SimulatedAppliance[] = [];
  const settings: ApplianceSettings[] = [];
  for (const [name, world] of Object.entries(worlds)) {
    const appliance = await startSimulatedAppliance({ world, apiKey });
    onTestFinished(() => appliance.close());
    appliances.push(appliance);
    settings.push(watched(name, appliance, options.eager ?? []));
  }
  if (options.crowd) {
    const script = new URL('../../bench/scale/appliances-server.ts', import.meta.url);
    const child = await startChild(script, { size: options.crowd, apiKey });
    onTestFinished(() => child.stop());
    const { urls, fingerprintSha256 } = child.report as { urls: readonly string[]; fingerprintSha256: string };
    for (const [index, url] of urls.entries())
      settings.push(watched(`lb-${String(index + 1).padStart(4, '0')}`, { url, fingerprintSha256 }, []));
  }
  let daemon: Daemon | undefined;
  const start = async (port = 0): Promise<string> => {
    daemon = await startDaemon({
      settings: {
        appliances: settings,
        polling: { timeoutMs: 5_000, maxConcurrentPerAppliance: 1, maxBusyRatio: 1, jitterRatio: 0 },
        limits: { seriesPerAppliance: 500_000, bodyBytes: 32 * 1_048_576 },
      } satisfies Settings,
      listenAddress: `127.0.0.1:${port}`,
      build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
      log: pino({ level: 'silent' }),
      now: Date.now,
      random: () => 0.5,
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

function watched(
  name: string,
  { url, fingerprintSha256 }: Pick<SimulatedAppliance, 'url' | 'fingerprintSha256'>,
  eager: readonly string[],
): ApplianceSettings {
  return {
    name,
    url: new URL(url),
    apiKey: new Secret(apiKey),
    keyHeader: 'auto',
    tls: { fingerprintSha256, insecureSkipVerify: false },
    labels: { site: 'test' },
    farms: { include: [/.*/], exclude: [] },
    compact: false,
    collectors: Object.fromEntries(
      [...collectorDefaults].map(([collector, defaults]) => [
        collector,
        eager.includes(collector) ? { ...defaults, schedule: everySecond } : defaults,
      ]),
    ),
  };
}
