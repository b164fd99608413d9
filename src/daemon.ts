import type { Logger } from 'pino';
import { createDecoder } from './appliance/decode.ts';
import type { BuildInfo } from './build-info.ts';
import { collectors } from './collectors/registry.ts';
import { watchesFarm } from './config/farm-filter.ts';
import type { ApplianceSettings, Settings } from './config/settings.ts';
import type { WebSettings } from './config/web-settings.ts';
import { connectAppliance } from './connect-appliance.ts';
import { listen } from './http/listen.ts';
import { createMetricsApp } from './http/metrics-app.ts';
import { createWebAccess } from './http/web-access.ts';
import { openToAll } from './http/web-policy.ts';
import { createExposition } from './metrics/exposition.ts';
import { createSelfMetrics } from './metrics/self.ts';
import { type AppliancePoller, createAppliancePoller } from './monitor/appliance-poller.ts';
import { createClockwork } from './monitor/clockwork.ts';
import { ledgerFamilies } from './monitor/ledger.ts';
import { createMonitor } from './monitor/monitor.ts';
import { type StartedGateway, startGateway } from './start-gateway.ts';

export interface DaemonParts {
  readonly settings: Settings;
  /** `host:port`; an empty host is every address. */
  readonly listenAddress: string;
  /** Who may read the metrics; everybody without it, over plain HTTP. */
  readonly web?: WebSettings | undefined;
  readonly build: BuildInfo;
  readonly log: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

/** The exporter, listening and polling. */
export interface Daemon {
  /** Base URL of the metrics listener. */
  readonly url: string;
  /** Base URL of the admin listener; undefined when it is off. */
  readonly adminUrl: string | undefined;
  close(): Promise<void>;
}

/** Puts all parts together; rejects when the address cannot be listened on. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { settings, listenAddress, web = openToAll, build, log, now, random } = parts;
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
      connect: (onCall) => connectAppliance({ appliance, settings, decode, now, onCall }),
      polling: settings.polling,
      maxSeries: settings.limits.seriesPerAppliance,
      exposition,
      clockwork,
      log: log.child({ appliance: appliance.name }),
      now,
      random,
    });

  const monitor = createMonitor({
    appliances: settings.appliances,
    pollers: settings.appliances.map(createPoller),
    exposition,
  });
  const httpLog = log.child({ part: 'http' });
  const access = createWebAccess({ policy: web, log: httpLog });
  const app = createMetricsApp({ monitor, self, build, access, log: httpLog });
  const url = await listen(app, listenAddress, '--web.listen-address');
  log.info({ url, appliances: settings.appliances.length }, 'listening');
  const gateway = await startGatewayFor(settings).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  monitor.start();

  return {
    url,
    adminUrl: gateway?.url,
    async close() {
      log.info('stopping');
      // The gateway first: what it still does is told to the monitor.
      await gateway?.close();
      await Promise.all([app.close(), clockwork.close(), monitor.close()]);
    },
  };

  async function startGatewayFor({ admin }: Settings): Promise<StartedGateway | undefined> {
    if (!admin) return undefined;
    return await startGateway({
      admin,
      settings,
      monitor,
      self,
      decode,
      build,
      log: log.child({ part: 'admin' }),
      now,
    });
  }
}
