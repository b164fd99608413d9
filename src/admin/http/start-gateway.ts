// Starts the gateway and applies other settings to it: owns the listener, the services behind it
// (gateway-services.ts) and the changes. A new address is listened on before the old listener
// retires, and what is under way there ends first. gateway-lifecycle.ts switches the whole gateway
// on and off. Read on in admin-app.ts (hooks and routes), authenticate.ts and relay-routes.ts.

import { createSecureContext } from 'node:tls';
import { Changes } from '../changes/changes.ts';
import { Proposals } from '../changes/proposals.ts';
import type { AdminSettings, ApplianceSettings, ApprovalSettings } from '../../config/settings.ts';
import { Gateway } from '../calls/gateway.ts';
import { watchKeys } from '../calls/key-watch.ts';
import type { AdminAppliance } from '../calls/session.ts';
import { createFileAccess } from '../../lib/file-access.ts';
import { sleep, steadyNow } from '../../lib/time.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { allRecipes } from '../recipes/recipes.ts';
import { type AdminListener, closeGraceMs, createAdminApp } from './admin-app.ts';
import { listenerTlsOptions } from '../../lib/handshakes.ts';
import { listen, ownPortError, RestartNeededError } from '../../lib/listen.ts';
import type { Prepared } from '../../lib/prepared.ts';
import { noRequest } from '../journal/record.ts';
import { isSame } from '../../lib/same.ts';
import {
  connectAdmin,
  createGatewayServices,
  type GatewayServices,
  type GatewaySettings,
  type GatewayDependencies,
} from './gateway-services.ts';

export type StartedGateway = Awaited<ReturnType<typeof startGateway>>;

/** Starts the gateway; rejects when its address cannot be listened on. */
export async function startGateway(settings: GatewaySettings, parts: GatewayDependencies) {
  const services = createGatewayServices(settings, parts);
  const core = createGatewayCore(services);
  // The journal logs why it cannot be opened; each call tries again.
  await services.journal.open().catch(() => undefined);
  // Ends at once what a stopped exporter left behind.
  core.sweep();
  const stopping = new AbortController();
  /** The listeners that answer what was under way when a reload replaced them. */
  const retiring = new Set<Promise<void>>();
  let listener = await openListener(services, core).catch(async (error: unknown) => {
    await closeServices(services, core);
    throw error;
  });
  recordStart(services, listener.url);
  const keys = watchKeys({
    appliances: () => appliancesWithOwnKey(services),
    metrics: services.metrics,
    log: services.log,
  });

  function retire(replaced: AdminListener): Promise<void> {
    const retired = replaced.retire(stopping.signal).finally(() => retiring.delete(retired));
    retiring.add(retired);
    return retired;
  }

  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    keys.close();
    const timer = setTimeout(() => stopping.abort(), closeGraceMs);
    await Promise.all([listener.app.close(), ...retiring, closeServices(services, core)]);
    clearTimeout(timer);
  }

  return {
    get url() {
      return listener.url;
    },
    get freeze() {
      const { state, isSaved } = services.freeze;
      return { isFrozen: state !== undefined, isSaved };
    },
    /**
     * Prepares other settings, also for requests under way. Rejects with a RestartNeededError or a
     * ListenError.
     */
    async prepare(next: GatewaySettings): Promise<Prepared> {
      const before = services.settings.admin;
      assertReloadable(before, next.admin);
      if (next.admin.tls) createSecureContext(listenerTlsOptions(next.admin.tls));
      const replacing =
        before.listenAddress === next.admin.listenAddress
          ? undefined
          : await openListener(services, core, next.admin).catch((error: unknown) => {
              throw ownPortError(error, before.listenAddress, next.admin.listenAddress);
            });
      return {
        commit() {
          applySettings(services, next, replacing ?? listener);
          keys.restart();
          if (!replacing) return;
          void retire(listener);
          listener = replacing;
          services.log.info({ url: listener.url }, 'admin gateway listening');
        },
        discard: async () => await replacing?.app.close(),
      };
    },
    /** Takes no new request; resolves when all under way have ended, or when it is closed. */
    async drain(): Promise<void> {
      await Promise.all([retire(listener), core.changes.whenIdle(), services.queue.whenIdle()]);
    },
    close: () => (closed ??= close()),
  };
}

type GatewayCore = ReturnType<typeof createGatewayCore>;

const sweepEveryMs = 5_000;

function createGatewayCore(services: GatewayServices) {
  // Settings are read at each use: a reload may change them.
  const approvals = (): ApprovalSettings => services.settings.admin.approvals;
  const applianceOf = (name: string) => services.settings.appliances.find((each) => each.name === name);
  const lasting = withoutSettings(services);
  const shared = {
    ...lasting,
    approvals,
    vipLimitsOf: (name: string) => applianceOf(name)?.vip,
    sleep,
    steadyNow,
    ...services.waits,
  };
  const gateway = new Gateway({
    ...shared,
    memory: services.bodyLimits.memory,
    timeoutMs: () => services.settings.admin.timeoutMs,
    refresh: (appliance, area, farm) => services.fleet.refresh(appliance, area, farm),
  });
  // Shared by all plans, so that a folder that hangs is not read again meanwhile.
  const access = createFileAccess();
  const recipes = (): readonly Recipe[] => {
    const path = approvals().certificatesFolder;
    return allRecipes(path === undefined ? undefined : { path, access });
  };
  const changes = new Changes({
    ...shared,
    gateway,
    recipes,
    probesAllFarms: (name) => probesAllFarms(applianceOf(name)),
  });
  const proposals = new Proposals({ ...lasting, changes, recipes });
  const sweep = (): void => void Promise.all([services.freeze.retrySave(), changes.sweep()]);
  const timer = setInterval(sweep, sweepEveryMs);
  return {
    sweep,
    gateway,
    changes,
    proposals,
    async close() {
      clearInterval(timer);
      await Promise.all([proposals.close(), changes.close()]);
    },
  };
}

/** Returns what stays the same when a reload replaces the settings. */
function withoutSettings(services: GatewayServices): Omit<GatewayServices, 'settings'> {
  const { settings: _, ...lasting } = services;
  return lasting;
}

/** Returns the appliances that have an admin_api_key. */
function appliancesWithOwnKey({ appliances, settings }: GatewayServices): readonly AdminAppliance[] {
  return settings.appliances.flatMap(({ name, adminApiKey }) => (adminApiKey && appliances.get(name)) || []);
}

type OpenListener = AdminListener & { readonly url: string };

/** Listens as these settings say; rejects with a ListenError. */
async function openListener(
  services: GatewayServices,
  { gateway, changes, proposals }: GatewayCore,
  admin: AdminSettings = services.settings.admin,
): Promise<OpenListener> {
  const listener = await createAdminApp({
    ...withoutSettings(services),
    gateway,
    changes,
    proposals,
    approvals: () => services.settings.admin.approvals,
    polledAppliances: () => services.fleet.status().appliances,
    tls: admin.tls,
    timeoutMs: admin.timeoutMs,
  });
  try {
    return { ...listener, url: await listen(listener.app, admin.listenAddress, 'admin.listen_address') };
  } catch (error) {
    await listener.app.close();
    throw error;
  }
}

/** Returns true if the collector `vip` connects to all farms of an appliance. */
function probesAllFarms(appliance: ApplianceSettings | undefined): boolean {
  return appliance?.collectors.vip?.enabled === true && !appliance.vip.l4Only;
}

function recordStart(services: GatewayServices, url: string): void {
  const { settings, journal, freeze, log } = services;
  void journal.append({ event: 'started', ...noRequest }).catch(() => undefined);
  const { length: tokens } = settings.admin.tokens;
  log.info({ url, tokens, frozen: freeze.state !== undefined }, 'admin gateway listening');
  logWarnings(services);
}

/** Throws a RestartNeededError for settings that the gateway cannot take while it runs. */
function assertReloadable(before: AdminSettings, next: AdminSettings): void {
  if (before.journalFile !== next.journalFile)
    throw new RestartNeededError(
      'admin.journal_file cannot change while the exporter runs, since records, changes and the freeze are in it; restart the exporter for that',
    );
  if (before.listenAddress !== next.listenAddress) return;
  const asks = ({ tls }: AdminSettings): boolean => tls?.clientCa !== undefined;
  if ((before.tls === undefined) !== (next.tls === undefined) || asks(before) !== asks(next))
    throw new RestartNeededError(
      'admin.tls cannot be added or removed, and client_ca_file neither, while the gateway listens on this address; restart the exporter for that, or change admin.listen_address too',
    );
}

/** Makes other settings active, also for requests under way. */
function applySettings(services: GatewayServices, next: GatewaySettings, listener: AdminListener): void {
  const before = services.settings;
  services.settings = next;
  if (!isSame(before.admin, next.admin)) logWarnings(services);
  services.principals.replace(next.admin.tokens);
  if (next.admin.tls && !isSame(before.admin.tls, next.admin.tls)) listener.setTls(next.admin.tls);
  listener.setTimeout(next.admin.timeoutMs);
  reconnectChanged(services, before);
}

/** Ends calls and changes under way after `closeGraceMs`, and closes what the gateway opened. */
async function closeServices(services: GatewayServices, core: GatewayCore): Promise<void> {
  const { queue, appliances, recorder, journal, metrics } = services;
  // Calls whose callers left get the same time as the callers that are still connected.
  await Promise.all([core.close(), queue.close(closeGraceMs)]);
  await Promise.all([...appliances.values()].flatMap(({ relay, client }) => [relay.close(), client.close()]));
  await recorder.close();
  await journal.close();
  metrics.setFrozen(undefined);
}

/** Logs what an operator should know of the tokens and keys. */
function logWarnings({ settings: { admin, appliances }, log, now }: GatewayServices): void {
  const expired = admin.tokens.filter(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs <= now());
  for (const { name } of expired) log.warn({ principal: name }, 'token has expired');
  for (const { name, adminApiKey } of appliances)
    if (!adminApiKey) log.info({ appliance: name }, 'no admin_api_key, the gateway uses the key for polling');
}

/**
 * Replaces the connections of appliances that changed or were removed; the old ones close when they
 * are idle.
 */
function reconnectChanged(services: GatewayServices, before: GatewaySettings): void {
  const { appliances, settings } = services;
  const old = new Map(before.appliances.map((each) => [each.name, each]));
  const isLimitsSame = isSame(limitsOf(before), limitsOf(settings));
  const connected = new Map(appliances);
  appliances.clear();
  for (const each of settings.appliances) {
    const known = connected.get(each.name);
    const isKept = known && isLimitsSame && isSame(old.get(each.name), each);
    appliances.set(each.name, isKept ? known : connectAdmin(each, settings, services));
    if (isKept) connected.delete(each.name);
  }
  for (const { relay, client } of connected.values()) void Promise.all([relay.retire(), client.retire()]);
}

/** Returns the general settings that the connections to an appliance depend on. */
function limitsOf({ polling, limits, admin }: GatewaySettings): unknown {
  return [polling.timeoutMs, limits.bodyBytes, admin.timeoutMs, admin.maxConcurrentPerAppliance, admin.downloadBytes];
}
