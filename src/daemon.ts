import type { Logger } from 'pino';
import { type AdminMetrics, createAdminMetrics } from './admin/admin-metrics.ts';
import { createDecoder } from './appliance/decode.ts';
import type { BuildInfo } from './build-info.ts';
import { collectorFamilies, collectors } from './collectors/registry.ts';
import { type ApplianceSettings, type Settings, watchesFarm } from './config/settings.ts';
import type { WebSettings } from './config/web-settings.ts';
import type { ConfigurationSource } from './configuration-source.ts';
import { connectAppliance } from './connect-appliance.ts';
import { createGatewayLifecycle } from './gateway-lifecycle.ts';
import { listen } from './http/listen.ts';
import { createMetricsApp } from './http/metrics-app.ts';
import type { ReloadOutcome } from './http/reload.ts';
import { createWebAccess } from './http/web-access.ts';
import { openToAll, webChangeProblem } from './http/web-policy.ts';
import { isSame } from './lib/same.ts';
import { createSelfMetrics } from './metrics/self.ts';
import { createMetricsStore } from './metrics/store.ts';
import { type AppliancePoller, createAppliancePoller } from './monitor/appliance-poller.ts';
import { createCron } from './monitor/cron.ts';
import { createCounters } from './monitor/counters.ts';
import { createFleet, type FleetChange, type Inherited } from './monitor/fleet.ts';
import { ledgerFamilies } from './monitor/ledger.ts';
import type { RecentTransition } from './monitor/status.ts';
import { createReloading, RestartNeededError } from './reloading.ts';

/** What an operator decides about the exporter, in whole. */
export interface Configuration {
  readonly settings: Settings;
  /** Who may read the metrics; everybody without it, over plain HTTP. */
  readonly web?: WebSettings | undefined;
}

export interface DaemonParts extends Configuration {
  /** Where other settings come from while it runs; without it they stay as they are. */
  readonly source?: ConfigurationSource<Configuration>;
  /** Whether a reload can be asked for by HTTP. */
  readonly enableLifecycle?: boolean;
  /** `host:port`; an empty host is every address. */
  readonly listenAddress: string;
  readonly build: BuildInfo;
  /** True where the appliances are simulated because there is no configuration. */
  readonly isDemonstration?: boolean;
  /** Puts what can be typed here in place of `zlb-exporter` in the commands of a text. */
  readonly spoken?: (text: string) => string;
  readonly log: Logger;
  /**
   * Returns the number of lines of `log` that could not be written; none are counted without it.
   */
  readonly droppedLogLines?: () => number;
  readonly now: () => number;
  readonly random: () => number;
}

/** The exporter, listening and polling. */
export interface Daemon {
  /** Base URL of the metrics listener. */
  readonly url: string;
  /** Base URL of the admin listener; undefined when it is off. */
  readonly adminUrl: string | undefined;
  /** Takes in the configuration as it is now, or says why not. */
  reload(): Promise<ReloadOutcome>;
  close(): Promise<void>;
}

/** An appliance with everything that decides how it is watched. */
interface WatchedAppliance extends Pick<Settings, 'polling' | 'limits'> {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly appliance: ApplianceSettings;
}

/** Puts all parts together; rejects when an address cannot be listened on. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { settings, web = openToAll, source, build, log, now, random } = parts;
  const decode = createDecoder();
  const cron = createCron(log.child({ part: 'cron' }));
  const store = createMetricsStore([...collectorFamilies, ...ledgerFamilies]);
  const self = createSelfMetrics(build, parts);

  const createPoller = (
    { appliance, polling, limits }: WatchedAppliance,
    { counters = createCounters(appliance.name), legacy }: Inherited,
    onTransition: (transition: RecentTransition) => void,
  ): AppliancePoller =>
    createAppliancePoller({
      name: appliance.name,
      labels: appliance.labels,
      watches: (farm) => watchesFarm(appliance, farm),
      compact: appliance.compact,
      collectors: collectors.flatMap((collector) => {
        const chosen = appliance.collectors[collector.name];
        return chosen?.enabled ? { collector, schedule: chosen.schedule, maxStaleMs: chosen.maxStaleMs } : [];
      }),
      connect: (onCall) => connectAppliance({ appliance, settings: { polling, limits }, decode, now, onCall }),
      polling,
      maxSeries: limits.seriesPerAppliance,
      counters,
      onTransition,
      legacy,
      store,
      cron,
      log: log.child({ appliance: appliance.name }),
      now,
      random,
    });

  const monitor = createFleet<WatchedAppliance>({
    store,
    createPoller,
    isSame,
    isSameMachine: (one, other) => isSame(one.appliance.url, other.appliance.url),
  });
  let inForce = { settings, web };
  await monitor.watch(watchedIn(settings));
  self.configurationLoaded(now());

  const httpLog = log.child({ part: 'http' });
  const access = createWebAccess({ policy: web, log: httpLog });
  let adminMetrics: AdminMetrics | undefined;
  const gateway = createGatewayLifecycle(() => ({
    monitor,
    // Counters outlive a gateway that is switched off and on; one that never was has none.
    metrics: (adminMetrics ??= createAdminMetrics(self.registry)),
    decode,
    build,
    log: log.child({ part: 'admin' }),
    now,
  }));
  const reloading =
    source &&
    createReloading({
      source,
      async apply({ settings: next, web: nextWeb = openToAll }) {
        const problem = webChangeProblem(inForce.web, nextWeb);
        if (problem !== undefined) throw new RestartNeededError(problem);
        await gateway.reconfigure(next);
        access.update(nextWeb);
        inForce = { settings: next, web: nextWeb };
        return describeChange(await monitor.watch(watchedIn(next)));
      },
      self,
      log: log.child({ part: 'configuration' }),
      now,
    });
  const app = createMetricsApp({
    monitor,
    shardWatching: (appliance) => inForce.settings.shard?.elsewhere.get(appliance),
    shard: () => inForce.settings.shard,
    self,
    build,
    isDemonstration: parts.isDemonstration,
    spoken: parts.spoken,
    adminUrl: () => gateway.url,
    reload: reloading && parts.enableLifecycle ? () => reloading.reload() : undefined,
    access,
    log: httpLog,
    now,
  });
  const url = await listen(app, parts.listenAddress, '--web.listen-address');
  const { appliances, shard } = settings;
  log.info(
    { url, appliances: appliances.length, ...(shard && { shard: `${shard.index}/${shard.count}` }) },
    appliances.length > 0 ? 'listening' : `listening, and no appliance ${shard ? 'falls to this shard' : 'is listed'}`,
  );
  await gateway.reconfigure(settings).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  monitor.start();
  reloading?.watchFiles();

  return {
    url,
    get adminUrl() {
      return gateway.url;
    },
    reload: async () => (await reloading?.reload()) ?? { ok: false, because: 'there is no configuration to reload' },
    async close() {
      log.info('stopping');
      await reloading?.close();
      // The gateway first: what it still does is told to the monitor.
      await gateway.close();
      await Promise.all([app.close(), cron.close(), monitor.close()]);
    },
  };
}

function watchedIn({ appliances, polling, limits }: Settings): readonly WatchedAppliance[] {
  return appliances.map((appliance) => {
    const { name, labels } = appliance;
    return { name, labels, appliance, polling, limits };
  });
}

function describeChange({ added, changed, removed }: FleetChange): string {
  if (added + changed + removed === 0) return 'no appliance differs';
  return `of the appliances ${added} added, ${changed} changed, ${removed} removed`;
}
