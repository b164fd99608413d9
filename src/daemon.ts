import type { Logger } from 'pino';
import { createApplianceClient } from './appliance/client.ts';
import { createDecoder } from './appliance/decode.ts';
import type { BuildInfo } from './build-info.ts';
import { collectors } from './collectors/registry.ts';
import { watchesFarm } from './config/farm-filter.ts';
import type { ApplianceSettings, Settings } from './config/settings.ts';
import { listen } from './http/listen.ts';
import { createMetricsApp } from './http/metrics-app.ts';
import { createExposition } from './metrics/exposition.ts';
import { createSelfMetrics } from './metrics/self.ts';
import { type AppliancePoller, createAppliancePoller } from './monitor/appliance-poller.ts';
import { createClockwork } from './monitor/clockwork.ts';
import { ledgerFamilies } from './monitor/ledger.ts';
import { createMonitor, type Monitor } from './monitor/monitor.ts';

export interface DaemonParts {
  readonly settings: Settings;
  /** `host:port`; an empty host is every address. */
  readonly listenAddress: string;
  readonly build: BuildInfo;
  readonly log: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

/** The exporter, listening and polling. */
export interface Daemon {
  /** Base URL of the metrics listener. */
  readonly url: string;
  readonly monitor: Monitor;
  /** One run of a collector now; tests drive the daemon with it. */
  poll(appliance: string, collector: string): Promise<void>;
  close(): Promise<void>;
}

/** Puts all parts together; rejects when the address cannot be listened on. */
export async function startDaemon({ settings, listenAddress, build, log, now, random }: DaemonParts): Promise<Daemon> {
  const decode = createDecoder();
  const clockwork = createClockwork(log.child({ part: 'clockwork' }));
  const exposition = createExposition({
    families: [...new Set([...collectors.flatMap(({ families }) => families), ...ledgerFamilies])],
    appliances: settings.appliances.map(({ name }) => name),
  });
  const self = createSelfMetrics(build);
  self.configurationLoaded(now());

  const createPoller = (appliance: ApplianceSettings): AppliancePoller =>
    createAppliancePoller({
      name: appliance.name,
      labels: appliance.labels,
      watches: (farm) => watchesFarm(appliance, farm),
      collectors: collectors.flatMap((collector) => {
        const chosen = appliance.collectors[collector.name];
        return chosen?.enabled ? { collector, schedule: chosen.schedule, maxStaleMs: chosen.maxStaleMs } : [];
      }),
      connect: (onCall) =>
        createApplianceClient({
          url: appliance.url,
          tls: appliance.tls,
          apiKey: appliance.apiKey,
          keyHeader: appliance.keyHeader,
          timeoutMs: settings.polling.timeoutMs,
          maxConnections: settings.polling.maxConcurrentPerAppliance,
          bodyBytes: settings.limits.bodyBytes,
          decode,
          now,
          onCall,
        }),
      polling: settings.polling,
      maxSeries: settings.limits.seriesPerAppliance,
      exposition,
      clockwork,
      log: log.child({ appliance: appliance.name }),
      now,
      random,
    });

  const pollers = new Map(settings.appliances.map((appliance) => [appliance.name, createPoller(appliance)]));
  const monitor = createMonitor({ appliances: settings.appliances, pollers: [...pollers.values()], exposition });
  const app = createMetricsApp({ monitor, self, build, log: log.child({ part: 'http' }) });
  const url = await listen(app, listenAddress);
  monitor.start();
  log.info({ url, appliances: settings.appliances.length }, 'listening');

  return {
    url,
    monitor,
    poll: (appliance, collector) => pollers.get(appliance)?.run(collector) ?? Promise.resolve(),
    async close() {
      await Promise.all([app.close(), clockwork.close(), monitor.close()]);
    },
  };
}
