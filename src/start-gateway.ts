import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { AdminMetrics } from './admin/admin-metrics.ts';
import { createAuditJournal } from './admin/audit/journal.ts';
import { openFreezeSwitch } from './admin/freeze.ts';
import { type AdminAppliance, createGateway } from './admin/gateway.ts';
import { createOperations } from './admin/operation.ts';
import { createParameters } from './admin/parameters.ts';
import { createPrincipals } from './admin/principal.ts';
import { createRecorder } from './admin/recorder.ts';
import { createRequestQueue } from './admin/request-queue.ts';
import { createSpool } from './admin/spool.ts';
import { createApplianceClient } from './appliance/client.ts';
import type { Decode } from './appliance/decode.ts';
import { createRelay } from './appliance/relay.ts';
import type { BuildInfo } from './build-info.ts';
import type { AdminSettings } from './config/admin-settings.ts';
import type { ApplianceSettings, Settings } from './config/settings.ts';
import { presentCertificate } from './http/admin-server.ts';
import { createAdminApp } from './http/admin-app.ts';
import { listen } from './http/listen.ts';
import { isSame } from './lib/same.ts';
import type { Monitor } from './monitor/monitor.ts';

export interface GatewaySettings extends Settings {
  readonly admin: AdminSettings;
}

export interface GatewayParts {
  readonly monitor: Pick<Monitor, 'changed' | 'describe'>;
  readonly metrics: AdminMetrics;
  readonly decode: Decode;
  readonly build: BuildInfo;
  readonly log: Logger;
  readonly now: () => number;
}

/** The admin gateway, listening. */
export interface StartedGateway {
  readonly url: string;
  /** All changes are, until somebody thaws them. */
  readonly isFrozen: boolean;
  /** Takes in other settings, also for requests under way; false where they need another listener or another audit. */
  update(settings: GatewaySettings): boolean;
  close(): Promise<void>;
}

/** More than anybody makes by mistake, and a few dozen megabytes an hour at the worst. */
const mostDenialsPerMinute = 1_000;
const startedRecord = { event: 'started', request: '-', principal: '-', role: '-', method: '-', path: '-' } as const;

/** For a body that is no file, and before the lowest rate of a file counts. */
const maxBodyMs = 20_000;
/** For each appliance, and for reads and changes each. */
const maxWaiting = 16;
const maxWaitMs = 30_000;
/** A call keeps its place for so many times `admin.timeout` if the appliance does not answer. */
const placeKeptTimes = 2;
/** How long calls under way may take once the gateway closes. */
const closeGraceMs = 2_500;

/** Puts the parts of the gateway together; rejects when its address cannot be listened on. */
export async function startGateway(initial: GatewaySettings, parts: GatewayParts): Promise<StartedGateway> {
  const { monitor, metrics, build, log, now } = parts;
  const { admin } = initial;
  let settings = initial;
  // First of all: it may reject, and nothing has to be closed yet.
  const freeze = await openFreezeSwitch(`${admin.auditFile}.frozen`, now);
  const appliances = new Map(initial.appliances.map((each) => [each.name, connectAdmin(each, initial, parts)]));
  const journal = createAuditJournal({
    file: admin.auditFile,
    maxBytes: admin.auditFileBytes,
    now,
    log,
    onAppended: (records, atMs) => metrics.auditWritten(records, atMs),
    onFailed: () => metrics.auditFailed(),
  });
  const principals = createPrincipals(admin.tokens, now);
  const recorder = createRecorder({
    journal,
    keys: () =>
      settings.appliances.flatMap(({ apiKey, adminApiKey }) => [apiKey, ...(adminApiKey ? [adminApiKey] : [])]),
    isToken: (word) => principals.isToken(word),
    onLost: (error, { id }) => log.error({ err: error, request: id }, 'audit record lost'),
    now,
    mostDenials: mostDenialsPerMinute,
  });
  metrics.frozen(freeze.state !== undefined);
  const operations = createOperations();
  const largestBody = Math.max(admin.uploadBytes, admin.downloadBytes);
  const spool = createSpool({
    folder: dirname(admin.auditFile),
    maxBytesPerPrincipal: 2 * largestBody,
    maxBytes: 4 * largestBody,
    // Or a large answer would stop all changes: those need the audit.
    keepFreeBytes: admin.auditFileBytes,
  });
  const queue = createRequestQueue({ maxReads: admin.maxConcurrentPerAppliance, maxWaiting, maxWaitMs });
  const gateway = createGateway({
    appliances,
    operations,
    queue,
    recorder,
    freeze,
    isInForce: (principal) => principals.isInForce(principal),
    now,
    // A caller that stands still gets no more patience than an appliance would.
    bodyLimits: { uploadBytes: admin.uploadBytes, patienceMs: Math.min(admin.timeoutMs, maxBodyMs), spool },
    timeoutMs: admin.timeoutMs,
    onChanged: (appliance, area, farm) => monitor.changed(appliance, area, farm),
  });
  const app = await createAdminApp({
    gateway,
    operations,
    parameters: createParameters({ queue, recorder, freeze, timeoutMs: admin.timeoutMs }),
    principals,
    recorder,
    journal,
    freeze,
    metrics,
    applianceNamesOf: (principal) => [...appliances.keys()].filter((name) => principal.covers(name)),
    describe: () => monitor.describe().appliances,
    tls: admin.tls,
    timeoutMs: admin.timeoutMs,
    build,
    log,
  });
  async function close(): Promise<void> {
    // Calls whose callers left may end in the time that the callers have which are still there.
    await Promise.all([app.close(), queue.close(closeGraceMs)]);
    await Promise.all([...appliances.values()].flatMap(({ relay, client }) => [relay.close(), client.close()]));
    await recorder.close();
    await journal.close();
    metrics.frozen(undefined);
  }
  const url = await listen(app, admin.listenAddress, 'admin.listen_address').catch(async (error: unknown) => {
    await close();
    throw error;
  });
  // An audit that cannot be written is logged by the journal, now and not at the first change; nothing waits for it.
  void journal.append(startedRecord).catch(() => undefined);
  log.info({ url, tokens: admin.tokens.length, frozen: freeze.state !== undefined }, 'admin gateway listening');
  tellOddities(initial);

  function tellOddities({ admin: { tokens }, appliances: listed }: GatewaySettings): void {
    const expired = tokens.filter(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs <= now());
    for (const { name } of expired) log.warn({ principal: name }, 'token has expired');
    for (const { name, adminApiKey } of listed)
      if (!adminApiKey) log.info({ appliance: name }, 'no admin_api_key, the gateway uses the key for polling');
  }

  return {
    url,
    get isFrozen() {
      return freeze.state !== undefined;
    },
    update(next) {
      if (!fitsListener(settings.admin, next.admin)) return false;
      const before = settings;
      settings = next;
      if (!isSame(before.admin, next.admin)) tellOddities(next);
      principals.replace(next.admin.tokens);
      if (next.admin.tls && !isSame(before.admin.tls, next.admin.tls)) presentCertificate(app.server, next.admin.tls);
      connectAnew(before, next);
      return true;
    },
    close,
  };

  /** Connections of appliances that changed or went end when nothing is under way on them any more. */
  function connectAnew(before: GatewaySettings, next: GatewaySettings): void {
    const old = new Map(before.appliances.map((each) => [each.name, each]));
    const isLimitsSame = isSame(limitsOf(before), limitsOf(next));
    const connected = new Map(appliances);
    appliances.clear();
    for (const each of next.appliances) {
      const known = connected.get(each.name);
      const isKept = known && isLimitsSame && isSame(old.get(each.name), each);
      appliances.set(each.name, isKept ? known : connectAdmin(each, next, parts));
      if (isKept) connected.delete(each.name);
    }
    for (const { relay, client } of connected.values()) void Promise.all([relay.retire(), client.retire()]);
  }
}

/** What the connections to an appliance depend on beside its own settings. */
function limitsOf({ polling, limits }: Settings): unknown {
  return [polling.timeoutMs, limits.bodyBytes];
}

/** Whether nothing differs that was fixed when the listener and the audit were opened. */
function fitsListener(before: AdminSettings, next: AdminSettings): boolean {
  const fixed = ({ tokens: _tokens, tls, ...rest }: AdminSettings): unknown => ({
    ...rest,
    hasTls: tls !== undefined,
    asksForCertificates: tls?.clientCa !== undefined,
  });
  return isSame(fixed(before), fixed(next));
}

/** Connections of the gateway's own: a slow download holds up no poll, and a poll no change. */
function connectAdmin(
  { name, url, tls, apiKey, adminApiKey, keyHeader }: ApplianceSettings,
  { admin, polling, limits }: GatewaySettings,
  { decode, now }: GatewayParts,
): AdminAppliance {
  const shared = { url, tls, apiKey: adminApiKey ?? apiKey, otherKey: adminApiKey && apiKey, keyHeader };
  const relay = createRelay({
    ...shared,
    timeoutMs: admin.timeoutMs * placeKeptTimes,
    // For the reads that may pass together, and the one change beside them: nothing waits out of our sight.
    maxConnections: admin.maxConcurrentPerAppliance + 1,
    bodyBytes: admin.downloadBytes,
  });
  const client = createApplianceClient({
    ...shared,
    timeoutMs: polling.timeoutMs,
    maxConnections: 1,
    bodyBytes: limits.bodyBytes,
    decode,
    now,
    onCall: () => undefined,
  });
  return { name, relay, client };
}
