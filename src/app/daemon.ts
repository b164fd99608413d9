// Puts the exporter together: polling, history, log of requests, both listeners, and the reload of
// the configuration. It creates every part, closes each in the reverse order, and owns the settings
// in force, which only a reload replaces. A reload first prepares all that can fail, and then
// commits; reloads run one after another (reloading.ts). Polling, scrapes and calls go on
// meanwhile. Read on in create-poller.ts and reloading.ts.

import type { Logger } from 'pino';
import { type AdminMetrics, createAdminMetrics } from '../admin/calls/admin-metrics.ts';
import type { BuildInfo } from './build-info.ts';
import { History, type TrackedAppliance } from '../history/history.ts';
import type { CreateHistoryThread } from '../history/history-thread.ts';
import type { CreateJournalThread } from '../admin/journal/journal.ts';
import { TwinWatch } from '../history/twin-watch.ts';
import { type ApplianceSettings, type Settings, sendersOf } from '../config/settings.ts';
import { type Configuration, type ConfigurationSource, createReloading, type Reloading } from './reloading.ts';
import { createPoller, createStore, type WatchedAppliance, watchedIn } from './create-poller.ts';
import type { GatewayDependencies } from '../admin/http/gateway-services.ts';
import { createGatewayLifecycle, type GatewayLifecycle } from '../admin/http/gateway-lifecycle.ts';
import { credentialsOf } from './credentials.ts';
import { listen } from '../lib/listen.ts';
import { createMetricsApp, type ReloadOutcome } from '../server/metrics-app.ts';
import { createWebAccess, type WebAccess } from '../server/web-access.ts';
import { openToAll } from '../server/web-policy.ts';
import { prepareAll } from '../lib/prepared.ts';
import { BasePaths } from '../appliance/base-paths.ts';
import { Names } from '../lib/names.ts';
import { createSlots } from '../lib/slots.ts';
import { maxProbesAtOnce } from '../collectors/vip.ts';
import { isSame } from '../lib/same.ts';
import { listed } from '../lib/text.ts';
import { RequestLog, type RequestLogSettings } from '../request-log/request-log.ts';
import { createSelfMetrics, type SelfMetrics } from '../metrics/self.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { createCron, type Cron } from '../scheduler/schedule.ts';
import { FleetPoller, type FleetChange } from '../scheduler/fleet.ts';

export interface DaemonParts extends Configuration {
  /** The source of changed settings; if missing, the settings cannot change. */
  readonly source?: ConfigurationSource;
  /** True if a reload can be requested by HTTP. */
  readonly enableLifecycle?: boolean;
  /** `host:port`; an empty host means every address. */
  readonly listenAddress: string;
  readonly build: BuildInfo;
  /** True if the appliances are simulated because there is no configuration. */
  readonly isDemonstration?: boolean;
  /** Replaces `zlb-exporter` in commands by what users of this installation type. */
  readonly spoken?: (text: string) => string;
  /** The path of the configuration, for the commands of the runbooks. */
  readonly configurationFile?: string | undefined;
  readonly log: Logger;
  /**
   * Returns the number of lines of `log` that could not be written; none are counted without it.
   */
  readonly droppedLogLines?: () => number;
  readonly now: () => number;
  readonly random: () => number;
  /** Replaces the clock and the timers of what changes wait for. */
  readonly waits?: GatewayDependencies['waits'];
  readonly createHistoryThread?: CreateHistoryThread;
  readonly createJournalThread?: CreateJournalThread;
}

export interface Daemon {
  readonly url: string;
  /** Base URL of the admin listener; undefined when it is off. */
  readonly adminUrl: string | undefined;
  readonly requestLogAddresses: readonly string[];
  /** Reads and applies the configuration, or says why not. */
  reload(): Promise<ReloadOutcome>;
  close(): Promise<void>;
}

/** Starts the exporter; rejects if an address cannot be listened on. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { settings, web = openToAll, build, log, now } = parts;
  const { isDemonstration = false, spoken = (text: string) => text, createHistoryThread: createThread } = parts;
  const connecting = { names: loggedNames(log.child({ part: 'names' })), basePaths: new BasePaths() };
  const cron = createCron();
  const self = createSelfMetrics(build, { ...parts, credentials: credentialsOf(settings, web) });
  const store = createStore();
  const history = new History(settings.history, { store, registry: self.registry, log, now, createThread });
  const twins = new TwinWatch({ store, readingsOf: (appliance) => fleet.readingsOf(appliance) });
  const isRequestLogEmpty = (appliance: string) => requests.isEmpty(appliance);
  const fleet = createFleet(parts, { store, ...connecting, cron, history, twins, isRequestLogEmpty });
  const farmsOf = (appliance: string) => fleet.statusOf(appliance)?.farms;
  const requests = new RequestLog({ store, farmsOf, registry: self.registry, log });
  const current: Current = { settings };
  await fleet.watch(watchedIn(settings));
  await history.watch(remembered(settings));
  twins.watch(settings.twins);
  history.recordExporterEvent('start', `exporter ${build.version} started`);
  self.recordLoaded(now());
  warnOfOpenKeys(log, parts.openKeys);
  const httpLog = log.child({ part: 'http' });
  const access = createWebAccess({ policy: web, log: httpLog, onRefused: self.countRefusedClient });
  const gateway = createGateway(parts, { fleet, history, ...connecting, self });
  const reloading = createReload(parts, { current, fleet, gateway, requests, history, twins, access, self });
  const app = createMetricsApp({
    fleet,
    shardWatching: (appliance) => current.settings.shard?.otherShards.get(appliance),
    shard: () => current.settings.shard,
    self,
    build,
    isDemonstration,
    spoken,
    adminUrl: () => gateway.url,
    reload: reloading && parts.enableLifecycle ? () => reloading.reload() : undefined,
    lastMinuteOf: (appliance, farm) => requests.lastMinute(appliance, farm),
    history,
    twinOf: (appliance) => twins.twinOf(appliance),
    access,
    log: httpLog,
    now,
  });
  const url = await listen(app, parts.listenAddress, '--web.listen-address');
  logListening(log, url, settings);
  try {
    const listeners = await prepareAll([() => requests.prepare(requestsIn(settings)), () => gateway.prepare(settings)]);
    for (const listener of listeners) listener.commit();
  } catch (error) {
    await Promise.all([app.close(), requests.close(), history.close()]);
    throw error;
  }
  if (gateway.url === undefined) log.info('no admin gateway, since the configuration has no admin block');
  fleet.start();
  reloading?.watchFiles();

  return {
    url,
    get adminUrl() {
      return gateway.url;
    },
    requestLogAddresses: requests.addresses,
    reload: async () => (await reloading?.reload()) ?? { ok: false, because: 'there is no configuration to reload' },
    async close() {
      log.info('stopping');
      await reloading?.close();
      // The gateway first: its last calls still notify the fleet.
      await gateway.close();
      await Promise.all([app.close(), requests.close(), fleet.close()]);
      twins.close();
      await history.close();
    },
  };
}

/** The settings in force; a reload replaces them. */
interface Current {
  settings: Settings;
}

interface PollingParts {
  readonly store: MetricsStore;
  readonly names: Names;
  readonly basePaths: BasePaths;
  readonly cron: Cron;
  readonly history: History;
  readonly twins: TwinWatch;
  readonly isRequestLogEmpty: (appliance: string) => boolean;
}

function createFleet(
  { log, now, random }: DaemonParts,
  { store, names, basePaths, cron, history, twins, isRequestLogEmpty }: PollingParts,
): FleetPoller<WatchedAppliance> {
  const inProbeSlot = createSlots(maxProbesAtOnce);
  return new FleetPoller<WatchedAppliance>({
    store,
    createPoller: (appliance, { counters, handover }, listener) =>
      createPoller(appliance, {
        names,
        basePaths,
        cron,
        inProbeSlot,
        store,
        counters,
        handover,
        listeners: [listener, history.listenerOf(rememberedAs(appliance)), twins.listenerOf(appliance.name)],
        log: log.child({ appliance: appliance.name }),
        now,
        random,
        isRequestLogEmpty: () => isRequestLogEmpty(appliance.name),
      }),
    isSame,
    isSameMachine: (one, other) => isSame(one.url, other.url),
  });
}

interface GatewayUses extends Pick<ReloadParts, 'fleet' | 'history' | 'self'> {
  readonly names: Names;
  readonly basePaths: BasePaths;
}

function createGateway(
  { build, log, now, waits, createJournalThread }: DaemonParts,
  { fleet, history, names, basePaths, self }: GatewayUses,
): GatewayLifecycle {
  let metrics: AdminMetrics | undefined;
  return createGatewayLifecycle(waits, () => ({
    fleet,
    onWrite: (call, farm) => history.recordCall(call, farm),
    // Created once, so that counters survive when the gateway is switched off and on again.
    metrics: (metrics ??= createAdminMetrics(self.registry)),
    names,
    basePaths,
    build,
    log: log.child({ part: 'admin' }),
    recordLog: log.child({ part: 'audit' }),
    now,
    createJournalThread,
  }));
}

interface ReloadParts {
  readonly current: Current;
  readonly fleet: FleetPoller<WatchedAppliance>;
  readonly gateway: GatewayLifecycle;
  readonly requests: RequestLog;
  readonly history: History;
  readonly twins: TwinWatch;
  readonly access: WebAccess;
  readonly self: SelfMetrics;
}

/** Creates what applies changes of the configuration; undefined if it cannot change. */
function createReload({ source, log, now }: DaemonParts, parts: ReloadParts): Reloading | undefined {
  const { current, fleet, gateway, requests, history, twins, access, self } = parts;
  if (!source) return undefined;
  return createReloading({
    source,
    async apply({ settings, web = openToAll, openKeys }) {
      // First all that can fail, then all that cannot: a refused configuration changes nothing.
      const prepared = await prepareAll([
        () => access.prepare(web),
        () => requests.prepare(requestsIn(settings)),
        () => gateway.prepare(settings),
      ]);
      for (const part of prepared) part.commit();
      current.settings = settings;
      self.setCredentials(credentialsOf(settings, web));
      const change = describeChange(await fleet.watch(watchedIn(settings)));
      requests.republish();
      await history.watch(remembered(settings), settings.history);
      twins.watch(settings.twins);
      history.recordExporterEvent('reload', `configuration reloaded: ${change}`);
      warnOfOpenKeys(log, openKeys);
      return change;
    },
    self,
    log: log.child({ part: 'configuration' }),
    now,
  });
}

/** Logs each name once when it begins to fail; without an address, the calls fail and are logged. */
function loggedNames(log: Logger): Names {
  return new Names({
    listener: {
      failing: (host, because) =>
        log.warn({ host, because }, 'the name of a host does not resolve, its last known address is used'),
      resolved: (host) => log.info({ host }, 'the name of a host resolves again'),
    },
  });
}

function logListening(log: Logger, url: string, { appliances, shard }: Settings): void {
  log.info(
    { url, appliances: appliances.length, ...(shard && { shard: `${shard.index}/${shard.count}` }) },
    appliances.length > 0
      ? 'listening'
      : `listening, and no appliance ${shard ? 'is assigned to this shard' : 'is listed'}`,
  );
}

function warnOfOpenKeys(log: Logger, openKeys: readonly string[] = []): void {
  if (openKeys.length > 0)
    log.warn({ files: openKeys }, 'every user of this machine can read these keys; chmod 600 gives them to one alone');
}

function remembered({ appliances }: Settings): readonly TrackedAppliance[] {
  return appliances.map(rememberedAs);
}

/** A different address may be a different machine; its farms are not reported as changed. */
function rememberedAs({ name, url, farms }: ApplianceSettings): TrackedAppliance {
  const patterns = [farms.include, farms.exclude].map((list) => list.map(({ source }) => source));
  return { name, scope: url.href, farmChoice: JSON.stringify(patterns) };
}

function requestsIn({ requests, appliances }: Settings): RequestLogSettings {
  const { buckets = [], ...receiver } = requests ?? {};
  const senders = appliances.map((appliance) => ({
    name: appliance.name,
    from: sendersOf(appliance),
    objectives: appliance.requests.objectives,
  }));
  return { receiver, buckets: buckets.toSorted((one, other) => one - other), appliances: requests ? senders : [] };
}

/** Returns `added lb-rome; changed lb-paris, lb-lyon`. */
function describeChange({ added, changed, removed }: FleetChange): string {
  const parts = Object.entries({ added, changed, removed }).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${what} ${listed(names)}`],
  );
  return parts.length === 0 ? 'no appliance differs' : parts.join('; ');
}
