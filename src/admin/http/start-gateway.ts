import { createChanges } from '../changes/changes.ts';
import { Proposals } from '../changes/proposals.ts';
import type { AdminSettings, ApprovalSettings } from '../../config/admin-settings.ts';
import { Gateway } from '../calls/gateway.ts';
import { sleep, steadyNow } from '../../lib/time.ts';
import type { VipLimits, Recipe } from '../recipes/recipe.ts';
import { allRecipes } from '../recipes/recipes.ts';
import { type AdminListener, createAdminApp } from './admin-app.ts';
import { listen } from '../../lib/listen.ts';
import { noRequest } from '../journal/record.ts';
import { isSame } from '../../lib/same.ts';
import {
  connectAdmin,
  createGatewayServices,
  type GatewayServices,
  type GatewaySettings,
  type GatewaySurroundings,
} from './gateway-services.ts';

/** The admin gateway while it listens. */
export type StartedGateway = Awaited<ReturnType<typeof startGateway>>;

/** Starts the gateway; rejects when its address cannot be listened on. */
export async function startGateway(settings: GatewaySettings, parts: GatewaySurroundings) {
  const services = createGatewayServices(settings, parts);
  const gateway = createGatewayWithApprovals(services);
  // The journal logs why it cannot be opened; each call tries again.
  await services.journal.open().catch(() => undefined);
  // Ends at once what a stopped exporter left behind.
  gateway.sweep();
  const listener = await createListener(services, gateway);
  const { app } = listener;
  const close = (): Promise<void> => closeGateway(services, gateway, listener);
  const url = await listen(app, settings.admin.listenAddress, 'admin.listen_address').catch(async (error: unknown) => {
    await close();
    throw error;
  });
  announce(services, url);
  return {
    url,
    /** True while all changes are frozen. */
    get isFrozen() {
      return services.freeze.state !== undefined;
    },
    update: (next: GatewaySettings) => update(services, next, listener),
    close,
  };
}

type GatewayWithApprovals = ReturnType<typeof createGatewayWithApprovals>;

const sweepEveryMs = 5_000;

/** Creates the gateway, and the changes, whose calls it sends. */
function createGatewayWithApprovals(services: GatewayServices) {
  const { timeoutMs } = services.settings.admin;
  // Read at each use: a reload may change them.
  const approvals = (): ApprovalSettings => services.settings.admin.approvals;
  const gateway = new Gateway({
    ...services,
    timeoutMs,
    approvals,
    onLeaving: services.touching,
    onChanged: (appliance, area, farm) => services.fleet.changed(appliance, area, farm),
  });
  const recipes = (): readonly Recipe[] => allRecipes(approvals().certificatesFolder);
  const changes = createChanges({
    ...services,
    gateway,
    recipes,
    settings: approvals,
    reachOf: (appliance) => reachOf(appliance, services.settings),
    sleep,
    steadyNow,
    ...services.waits,
  });
  const proposals = new Proposals({ ...services, changes, recipes });
  const sweep = (): void => void Promise.all([services.freeze.keepAgain(), changes.sweep()]);
  const timer = setInterval(sweep, sweepEveryMs);
  return {
    sweep,
    gateway,
    changes,
    proposals,
    async close() {
      clearInterval(timer);
      await Promise.all([proposals.close(), changes.close()]);
      services.metrics.noChanges();
    },
  };
}

async function createListener(
  services: GatewayServices,
  { gateway, changes, proposals }: GatewayWithApprovals,
): Promise<AdminListener> {
  const { admin } = services.settings;
  return await createAdminApp({
    ...services,
    gateway,
    changes,
    proposals,
    selfApproval: () => services.settings.admin.approvals.selfApproval,
    applianceNamesOf: (principal) => [...services.appliances.keys()].filter((name) => principal.covers(name)),
    describe: () => services.fleet.describe().appliances,
    tls: admin.tls,
    timeoutMs: admin.timeoutMs,
  });
}

/** Returns what the collector `vip` may connect to; undefined while it is off. */
function reachOf(name: string, { appliances }: GatewaySettings): VipLimits | undefined {
  const { vip, collectors } = appliances.find((each) => each.name === name) ?? {};
  return collectors?.vip?.enabled ? vip : undefined;
}

function announce(services: GatewayServices, url: string): void {
  const { settings, journal, freeze, log } = services;
  void journal.append({ event: 'started', ...noRequest }).catch(() => undefined);
  const { length: tokens } = settings.admin.tokens;
  log.info({ url, tokens, frozen: freeze.state !== undefined }, 'admin gateway listening');
  logWarnings(services);
}

/**
 * Applies other settings, also to requests under way; returns false if they need another listener
 * or journal.
 */
function update(services: GatewayServices, next: GatewaySettings, listener: AdminListener): boolean {
  const before = services.settings;
  if (!fitsListener(before.admin, next.admin)) return false;
  services.settings = next;
  if (!isSame(before.admin, next.admin)) logWarnings(services);
  services.principals.replace(next.admin.tokens);
  if (next.admin.tls && !isSame(before.admin.tls, next.admin.tls)) listener.present(next.admin.tls);
  reconnectChanged(services, before);
  return true;
}

/** Time for calls under way after the gateway began to close. */
const closeGraceMs = 2_500;

async function closeGateway(
  services: GatewayServices,
  gateway: GatewayWithApprovals,
  { app }: AdminListener,
): Promise<void> {
  const { queue, appliances, recorder, journal, metrics } = services;
  // Calls whose callers left get the same time as the callers that are still connected.
  await Promise.all([app.close(), gateway.close(), queue.close(closeGraceMs)]);
  await Promise.all([...appliances.values()].flatMap(({ relay, client }) => [relay.close(), client.close()]));
  await recorder.close();
  await journal.close();
  metrics.frozen(undefined);
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
function limitsOf({ polling, limits }: GatewaySettings): unknown {
  return [polling.timeoutMs, limits.bodyBytes];
}

/** Returns true if nothing differs that was fixed when the listener and the journal were opened. */
function fitsListener(before: AdminSettings, next: AdminSettings): boolean {
  const fixed = ({ tokens: _tokens, approvals: _approvals, tls, ...rest }: AdminSettings): unknown => ({
    ...rest,
    hasTls: tls !== undefined,
    asksForCertificates: tls?.clientCa !== undefined,
  });
  return isSame(fixed(before), fixed(next));
}
