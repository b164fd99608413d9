// Puts the exporter together: polling, history, log of requests, both listeners, and the reload of
// the configuration. It creates every part, closes each in the reverse order, and owns the active
// settings, which only a reload replaces. Polling, scrapes and calls go on meanwhile. A reload in
// order of time: reloader.ts (one after another), configuration-source.ts (which files are read),
// config/load.ts, #apply below, web-access.ts, request-log.ts and gateway-lifecycle.ts (prepare,
// then commit), fleet.ts (new pollers for what changed). Read on in create-poller.ts.

import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type AdminMetrics, createAdminMetrics } from '../admin/calls/admin-metrics.ts';
import type { BuildInfo } from './build-info.ts';
import { History, type TrackedAppliance } from '../history/history.ts';
import type { CreateHistoryThread } from '../history/history-thread.ts';
import type { CreateJournalThread } from '../admin/journal/journal.ts';
import { TwinWatch } from '../history/twin-watch.ts';
import { type ApplianceSettings, type Settings, sendersOf } from '../config/settings.ts';
import type { Configuration, ConfigurationSource } from './configuration-source.ts';
import { Reloader } from './reloader.ts';
import { createPoller, createStore, type WatchedAppliance, watchedAppliances } from './create-poller.ts';
import type { GatewayDependencies } from '../admin/http/gateway-services.ts';
import { createGatewayLifecycle, type GatewayLifecycle } from '../admin/http/gateway-lifecycle.ts';
import { credentialsOf } from './credentials.ts';
import { listen } from '../lib/listen.ts';
import { createMetricsApp } from '../server/metrics-app.ts';
import { createWebAccess, type WebAccess } from '../server/web-access.ts';
import { openToAll } from '../server/web-policy.ts';
import { type Prepare, prepareAndCommit } from '../lib/prepared.ts';
import type { Result } from '../lib/check.ts';
import { BasePaths } from '../appliance/base-paths.ts';
import { HostResolver } from '../lib/host-resolver.ts';
import { createSlots } from '../lib/slots.ts';
import { maxProbesAtOnce } from '../collectors/vip.ts';
import { isSame } from '../lib/same.ts';
import { joinFirst } from '../lib/text.ts';
import { RequestLog, type RequestLogSettings } from '../request-log/request-log.ts';
import { createSelfMetrics, type SelfMetrics } from '../metrics/self.ts';
import { createCron } from '../scheduler/schedule.ts';
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
  readonly withCommandName?: (text: string) => string;
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

/** Starts the exporter; rejects if an address cannot be listened on. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const daemon = new Daemon(parts);
  try {
    await daemon.start();
    return daemon;
  } catch (error) {
    await daemon.close();
    throw error;
  }
}

export class Daemon {
  readonly #parts: DaemonParts;
  readonly #log: Logger;
  readonly #store = createStore();
  readonly #connecting: { readonly resolver: HostResolver; readonly basePaths: BasePaths };
  readonly #self: SelfMetrics;
  readonly #twins: TwinWatch;
  readonly #history: History;
  readonly #fleet: FleetPoller<WatchedAppliance>;
  readonly #requestLog: RequestLog;
  readonly #access: WebAccess;
  readonly #gateway: GatewayLifecycle;
  readonly #reloader: Reloader | undefined;
  readonly #app: FastifyInstance;
  #settings: Settings;
  #url = '';

  constructor(parts: DaemonParts) {
    const { settings, web = openToAll, source, build, log, now, createHistoryThread: createThread } = parts;
    this.#parts = parts;
    this.#log = log;
    this.#settings = settings;
    this.#connecting = { resolver: createResolver(log.child({ part: 'names' })), basePaths: new BasePaths() };
    this.#self = createSelfMetrics(build, { ...parts, credentials: credentialsOf(settings, web) });
    const { registry, countRefusedClient: onRefused } = this.#self;
    const store = this.#store;
    this.#twins = new TwinWatch({ store, readingsOf: (appliance) => this.#fleet.readingsOf(appliance) });
    this.#history = new History(settings.history, { metrics: store, registry, log, now, createThread });
    this.#fleet = this.#createFleet();
    this.#requestLog = new RequestLog({
      store,
      farmsOf: (appliance) => this.#fleet.statusOf(appliance)?.farms,
      registry,
      log,
    });
    this.#access = createWebAccess({ policy: web, log: log.child({ part: 'http' }), onRefused });
    this.#gateway = this.#createGateway();
    this.#reloader =
      source &&
      new Reloader({
        source,
        apply: (configuration) => this.#apply(configuration),
        self: this.#self,
        log: log.child({ part: 'configuration' }),
        now,
      });
    this.#app = this.#createMetricsApp();
  }

  get url(): string {
    return this.#url;
  }

  /** Base URL of the admin listener; undefined while it is off. */
  get adminUrl(): string | undefined {
    return this.#gateway.url;
  }

  get requestLogAddresses(): readonly string[] {
    return this.#requestLog.addresses;
  }

  async start(): Promise<void> {
    const settings = this.#settings;
    const { listenAddress, build, exposedKeyFiles, now } = this.#parts;
    // Before the listener, so that the first scrape finds all appliances.
    await this.#watch(settings);
    this.#history.recordExporterEvent('start', `exporter ${build.version} started`);
    this.#self.recordLoaded(now());
    warnOfExposedKeys(this.#log, exposedKeyFiles);
    this.#url = await listen(this.#app, listenAddress, '--web.listen-address');
    logListening(this.#log, this.#url, settings);
    await prepareAndCommit(this.#preparations(settings));
    if (this.#gateway.url === undefined) this.#log.info('no admin gateway, since the configuration has no admin block');
    this.#fleet.start();
    this.#reloader?.watchFiles();
  }

  /** Reads and applies the configuration; resolves to what changed, or to why nothing did. */
  async reload(): Promise<Result<string>> {
    return (await this.#reloader?.reload()) ?? { error: 'there is no configuration to reload' };
  }

  async close(): Promise<void> {
    if (this.#url !== '') this.#log.info('stopping');
    await this.#reloader?.close();
    // The gateway first: its last calls still notify the fleet.
    await this.#gateway.close();
    await Promise.all([this.#app.close(), this.#requestLog.close(), this.#fleet.close()]);
    this.#twins.close();
    await this.#history.close();
  }

  /**
   * Applies a configuration. Whatever may be refused is prepared before anything changes; what
   * follows may take a while, and does not fail.
   */
  async #apply(configuration: Configuration): Promise<string> {
    const { settings, web = openToAll, exposedKeyFiles } = configuration;
    await prepareAndCommit([() => this.#access.prepare(web), ...this.#preparations(settings)]);
    this.#settings = settings;
    this.#self.setCredentials(credentialsOf(settings, web));
    const change = describeChange(await this.#watch(settings));
    this.#history.recordExporterEvent('reload', `configuration reloaded: ${change}`);
    warnOfExposedKeys(this.#log, exposedKeyFiles);
    return change;
  }

  /** The gateway last: one that is switched on answers as soon as it is prepared. */
  #preparations(settings: Settings): readonly Prepare[] {
    return [() => this.#requestLog.prepare(requestLogSettingsOf(settings)), () => this.#gateway.prepare(settings)];
  }

  /** Watches the appliances of the settings, and no others. */
  async #watch(settings: Settings): Promise<FleetChange> {
    const change = await this.#fleet.watch(watchedAppliances(settings));
    this.#requestLog.publish();
    this.#twins.watch(settings.twins);
    await this.#history.watch(settings.appliances.map(trackedAs), settings.history);
    return change;
  }

  #createFleet(): FleetPoller<WatchedAppliance> {
    const { log, now, random } = this.#parts;
    const [cron, inProbeSlot] = [createCron(), createSlots(maxProbesAtOnce)];
    return new FleetPoller<WatchedAppliance>({
      store: this.#store,
      createPoller: (appliance, { counters, handover }, listener) =>
        createPoller(appliance, {
          ...this.#connecting,
          cron,
          inProbeSlot,
          store: this.#store,
          counters,
          handover,
          listeners: [listener, this.#history.listenerOf(trackedAs(appliance)), this.#twins.listenerOf(appliance.name)],
          log: log.child({ appliance: appliance.name }),
          now,
          random,
          isRequestLogEmpty: () => this.#requestLog.isEmpty(appliance.name),
        }),
      isSame,
      isSameMachine: (one, other) => isSame(one.url, other.url),
    });
  }

  #createGateway(): GatewayLifecycle {
    const { build, log, now, waits, createJournalThread } = this.#parts;
    let metrics: AdminMetrics | undefined;
    return createGatewayLifecycle(() => ({
      ...this.#connecting,
      fleet: this.#fleet,
      recordInHistory: (call, farm) => this.#history.recordCall(call, farm),
      // Created once, so that counters survive when the gateway is switched off and on again.
      metrics: (metrics ??= createAdminMetrics(this.#self.registry)),
      build,
      log: log.child({ part: 'admin' }),
      recordLog: log.child({ part: 'audit' }),
      now,
      waits,
      createJournalThread,
    }));
  }

  #createMetricsApp(): FastifyInstance {
    const { build, log, now, isDemonstration = false, withCommandName = (text) => text } = this.#parts;
    const reloader = this.#parts.enableLifecycle ? this.#reloader : undefined;
    return createMetricsApp({
      fleet: this.#fleet,
      shardWatching: (appliance) => this.#settings.shard?.otherShards.get(appliance),
      shard: () => this.#settings.shard,
      self: this.#self,
      build,
      isDemonstration,
      withCommandName,
      adminUrl: () => this.#gateway.url,
      reload: reloader && (() => reloader.reload()),
      lastMinuteOf: (appliance, farm) => this.#requestLog.lastMinute(appliance, farm),
      history: this.#history,
      twinOf: (appliance) => this.#twins.twinOf(appliance),
      access: this.#access,
      log: log.child({ part: 'http' }),
      now,
    });
  }
}

/** Logs each name once when it begins to fail; without an address, the calls fail and are logged. */
function createResolver(log: Logger): HostResolver {
  return new HostResolver({
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

function warnOfExposedKeys(log: Logger, exposed: readonly string[] = []): void {
  if (exposed.length > 0)
    log.warn(
      { files: exposed },
      'every user of this machine can read the keys in these files; chmod 600 lets only their owner read them',
    );
}

/** A different address may be a different machine; its farms are not reported as changed. */
function trackedAs({ name, url, farms }: ApplianceSettings): TrackedAppliance {
  const patterns = [farms.include, farms.exclude].map((list) => list.map(({ source }) => source));
  return { name, address: url.href, farmChoice: JSON.stringify(patterns) };
}

function requestLogSettingsOf({ requests, appliances }: Settings): RequestLogSettings {
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
    names.length === 0 ? [] : [`${what} ${joinFirst(names)}`],
  );
  return parts.length === 0 ? 'no appliance differs' : parts.join('; ');
}
