import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from './admin/admin-metrics.ts';
import { type AuditJournal, createAuditJournal } from './admin/audit/journal.ts';
import { type FreezeSwitch, openFreezeSwitch } from './admin/freeze.ts';
import { type AdminAppliance, createGateway } from './admin/gateway.ts';
import { createOperations } from './admin/operation.ts';
import { createParameters } from './admin/parameters.ts';
import { createPrincipals, type Principals } from './admin/principal.ts';
import { createRecorder, type Recorder } from './admin/recorder.ts';
import { createRequestQueue, type RequestQueue } from './admin/request-queue.ts';
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

export interface StartGatewayParts {
  readonly monitor: Pick<Monitor, 'changed' | 'describe'>;
  readonly metrics: AdminMetrics;
  readonly decode: Decode;
  readonly build: BuildInfo;
  readonly log: Logger;
  readonly now: () => number;
}

/** The admin gateway while it listens. */
export interface StartedGateway {
  readonly url: string;
  /** True while all changes are frozen. */
  readonly isFrozen: boolean;
  /**
   * Applies other settings, also to requests under way; returns false if they need another listener
   * or audit.
   */
  update(settings: GatewaySettings): boolean;
  close(): Promise<void>;
}

/** More than anybody causes by mistake; at most a few dozen megabytes of audit an hour. */
const maxDenialsPerMinute = 1_000;
const startedRecord = { event: 'started', request: '-', principal: '-', role: '-', method: '-', path: '-' } as const;

/** Limit for a body that is no file, and before the minimum rate of a file applies. */
const maxBodyMs = 20_000;
/** Per appliance, for reads and changes each. */
const maxWaiting = 16;
const maxWaitMs = 30_000;
/** A call without an answer keeps its slot in the queue for this multiple of `admin.timeout`. */
const slotTimeoutFactor = 2;
/** Time for calls under way after the gateway began to close. */
const closeGraceMs = 2_500;

/** Starts the gateway; rejects when its address cannot be listened on. */
export async function startGateway(initial: GatewaySettings, parts: StartGatewayParts): Promise<StartedGateway> {
  const { metrics, log, now } = parts;
  const { admin } = initial;
  // First, because it may reject, and nothing has to be closed yet.
  const freeze = await openFreezeSwitch(`${admin.auditFile}.frozen`, now);
  const current = { settings: initial };
  const appliances = new Map(initial.appliances.map((each) => [each.name, connectAdmin(each, initial, parts)]));
  const queue = createRequestQueue({ maxReads: admin.maxConcurrentPerAppliance, maxWaiting, maxWaitMs });
  const { principals, journal, recorder } = createRecords(admin, parts, () => current.settings);
  metrics.frozen(freeze.state !== undefined);
  const app = await createApp({ ...parts, admin, appliances, queue, principals, journal, recorder, freeze });

  async function close(): Promise<void> {
    // Calls whose callers left get the same time as the callers that are still connected.
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
  // The journal logs an audit that cannot be written, now and not at the first change; nothing
  // waits for it.
  void journal.append(startedRecord).catch(() => undefined);
  log.info({ url, tokens: admin.tokens.length, frozen: freeze.state !== undefined }, 'admin gateway listening');
  logWarnings(initial, parts);

  return {
    url,
    get isFrozen() {
      return freeze.state !== undefined;
    },
    update(next) {
      const before = current.settings;
      if (!fitsListener(before.admin, next.admin)) return false;
      current.settings = next;
      if (!isSame(before.admin, next.admin)) logWarnings(next, parts);
      principals.replace(next.admin.tokens);
      if (next.admin.tls && !isSame(before.admin.tls, next.admin.tls)) presentCertificate(app.server, next.admin.tls);
      reconnectChanged(appliances, { before, next, parts });
      return true;
    },
    close,
  };
}

interface Records {
  readonly principals: Principals;
  readonly journal: AuditJournal;
  readonly recorder: Recorder;
}

/** Creates what knows the tokens and writes the audit; `settings` returns those in force. */
function createRecords(
  admin: AdminSettings,
  { metrics, log, now }: StartGatewayParts,
  settings: () => GatewaySettings,
): Records {
  const principals = createPrincipals(admin.tokens, now);
  const journal = createAuditJournal({
    file: admin.auditFile,
    maxBytes: admin.auditFileBytes,
    now,
    log,
    onAppended: (records, atMs) => metrics.auditWritten(records, atMs),
    onFailed: () => metrics.auditFailed(),
  });
  const recorder = createRecorder({
    journal,
    keys: () =>
      settings().appliances.flatMap(({ apiKey, adminApiKey }) => [apiKey, ...(adminApiKey ? [adminApiKey] : [])]),
    isToken: (word) => principals.isToken(word),
    onLost: (error, { id }) => log.error({ err: error, request: id }, 'audit record lost'),
    now,
    maxDenialsPerMinute: maxDenialsPerMinute,
  });
  return { principals, journal, recorder };
}

interface AppParts extends StartGatewayParts, Records {
  readonly admin: AdminSettings;
  readonly appliances: ReadonlyMap<string, AdminAppliance>;
  readonly queue: RequestQueue;
  readonly freeze: FreezeSwitch;
}

async function createApp(parts: AppParts): Promise<FastifyInstance> {
  const { monitor, metrics, build, log, now, admin, appliances, queue, principals, journal, recorder, freeze } = parts;
  const operations = createOperations();
  const largestBody = Math.max(admin.uploadBytes, admin.downloadBytes);
  const spool = createSpool({
    folder: dirname(admin.auditFile),
    maxBytesPerPrincipal: 2 * largestBody,
    maxBytes: 4 * largestBody,
    // A large answer must not fill the disk: changes need the audit.
    keepFreeBytes: admin.auditFileBytes,
  });
  const gateway = createGateway({
    appliances,
    operations,
    queue,
    recorder,
    freeze,
    isInForce: (principal) => principals.isInForce(principal),
    now,
    // A stalled caller gets no more time than an appliance would.
    bodyLimits: { uploadBytes: admin.uploadBytes, patienceMs: Math.min(admin.timeoutMs, maxBodyMs), spool },
    timeoutMs: admin.timeoutMs,
    onChanged: (appliance, area, farm) => monitor.changed(appliance, area, farm),
  });
  return await createAdminApp({
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
}

/** Logs what an operator should know of the tokens and keys. */
function logWarnings({ admin: { tokens }, appliances }: GatewaySettings, { log, now }: StartGatewayParts): void {
  const expired = tokens.filter(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs <= now());
  for (const { name } of expired) log.warn({ principal: name }, 'token has expired');
  for (const { name, adminApiKey } of appliances)
    if (!adminApiKey) log.info({ appliance: name }, 'no admin_api_key, the gateway uses the key for polling');
}

interface Reconnection {
  readonly before: GatewaySettings;
  readonly next: GatewaySettings;
  readonly parts: StartGatewayParts;
}

/**
 * Replaces the connections of appliances that changed or were removed; the old ones close when they
 * are idle.
 */
function reconnectChanged(appliances: Map<string, AdminAppliance>, { before, next, parts }: Reconnection): void {
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

/** Returns the general settings that the connections to an appliance depend on. */
function limitsOf({ polling, limits }: Settings): unknown {
  return [polling.timeoutMs, limits.bodyBytes];
}

/** Returns true if nothing differs that was fixed when the listener and the audit were opened. */
function fitsListener(before: AdminSettings, next: AdminSettings): boolean {
  const fixed = ({ tokens: _tokens, tls, ...rest }: AdminSettings): unknown => ({
    ...rest,
    hasTls: tls !== undefined,
    asksForCertificates: tls?.clientCa !== undefined,
  });
  return isSame(fixed(before), fixed(next));
}

/** Connects separately from polling: a slow download must not delay a poll, nor a poll a change. */
function connectAdmin(
  { name, url, tls, apiKey, adminApiKey, keyHeader }: ApplianceSettings,
  { admin, polling, limits }: GatewaySettings,
  { decode, now }: StartGatewayParts,
): AdminAppliance {
  const shared = { url, tls, apiKey: adminApiKey ?? apiKey, otherKey: adminApiKey && apiKey, keyHeader };
  const relay = createRelay({
    ...shared,
    timeoutMs: admin.timeoutMs * slotTimeoutFactor,
    // One for each concurrent read and one for a change: nothing waits in the pool instead of our
    // queue.
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
