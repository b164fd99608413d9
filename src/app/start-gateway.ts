import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from '../gateway/admin-metrics.ts';
import { type AuditJournal, createAuditJournal } from '../audit/journal.ts';
import { type FreezeSwitch, openFreezeSwitch } from '../gateway/freeze.ts';
import type { AdminAppliance } from '../gateway/gateway.ts';
import { createOperations, type Operations } from '../gateway/operation.ts';
import { createPrincipals, type Principals } from '../gateway/principal.ts';
import { createRecorder, type Recorder } from '../gateway/recorder.ts';
import type { BodyLimits } from '../gateway/request-body.ts';
import { createRequestQueue, type RequestQueue } from '../gateway/request-queue.ts';
import { createSpool } from '../gateway/spool.ts';
import { createApplianceClient } from '../appliance/client.ts';
import type { Decode } from '../appliance/decode.ts';
import { createRelay } from '../appliance/relay.ts';
import type { BuildInfo } from './build-info.ts';
import type { AdminSettings } from '../config/admin-settings.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';
import { type StartedRequests, startRequests } from './start-requests.ts';
import { createAdminApp, presentCertificate } from '../http/admin-app.ts';
import { listen } from '../http/listen.ts';
import { isSame } from '../lib/same.ts';
import type { Secret } from '../lib/secret.ts';
import type { Fleet } from '../poller/fleet.ts';

export interface GatewaySettings extends Settings {
  readonly admin: AdminSettings;
}

export interface StartGatewayParts {
  readonly fleet: Pick<Fleet, 'changed' | 'describe'>;
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

/** Limits the audit to a few dozen megabytes an hour; no mistake causes that many refusals. */
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

/** The parts of a gateway that live as long as it listens. */
interface Core {
  /** The settings in force; `update` replaces them. */
  settings: GatewaySettings;
  readonly operations: Operations;
  readonly bodyLimits: BodyLimits;
  readonly freeze: FreezeSwitch;
  /** The appliances by name; `update` changes the content. */
  readonly appliances: Map<string, AdminAppliance>;
  readonly queue: RequestQueue;
  readonly principals: Principals;
  readonly journal: AuditJournal;
  readonly recorder: Recorder;
}

/** Starts the gateway; rejects when its address cannot be listened on. */
export async function startGateway(settings: GatewaySettings, parts: StartGatewayParts): Promise<StartedGateway> {
  const core = await createCore(settings, parts);
  const requests = await openRequests(core, parts);
  const app = await createApp(core, requests, parts);
  const close = (): Promise<void> => closeGateway(core, requests, app, parts);
  const url = await listen(app, settings.admin.listenAddress, 'admin.listen_address').catch(async (error: unknown) => {
    await close();
    throw error;
  });
  announce(core, url, parts);
  return {
    url,
    get isFrozen() {
      return core.freeze.state !== undefined;
    },
    update: (next) => update(core, next, app, parts),
    close,
  };
}

async function createCore(settings: GatewaySettings, parts: StartGatewayParts): Promise<Core> {
  const { metrics, log, now } = parts;
  const { admin } = settings;
  // First, because it may reject, and nothing has to be closed yet.
  const freeze = await openFreezeSwitch(`${admin.auditFile}.frozen`, now);
  metrics.frozen(freeze.state !== undefined);
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
    keys: () => keysOf(core.settings),
    isToken: (word) => principals.isToken(word),
    onLost: (error, { id }) => log.error({ err: error, request: id }, 'audit record lost'),
    now,
    maxDenialsPerMinute,
  });
  const core: Core = {
    settings,
    operations: createOperations(),
    bodyLimits: bodyLimitsOf(settings.admin),
    freeze,
    appliances: new Map(settings.appliances.map((each) => [each.name, connectAdmin(each, settings, parts)])),
    queue: createRequestQueue({ maxReads: admin.maxConcurrentPerAppliance, maxWaiting, maxWaitMs }),
    principals,
    journal,
    recorder,
  };
  return core;
}

function keysOf({ appliances }: GatewaySettings): readonly Secret[] {
  return appliances.flatMap(({ apiKey, adminApiKey }) => [apiKey, ...(adminApiKey ? [adminApiKey] : [])]);
}

async function openRequests(core: Core, { fleet, ...parts }: StartGatewayParts): Promise<StartedRequests> {
  const { auditFile, timeoutMs } = core.settings.admin;
  return await startRequests({
    ...parts,
    ...core,
    auditFile,
    timeoutMs,
    approvals: () => core.settings.admin.approvals,
    onChanged: (appliance, area, farm) => fleet.changed(appliance, area, farm),
  });
}

async function createApp(
  core: Core,
  { gateway, changeRequests, proposals }: StartedRequests,
  { fleet, ...parts }: StartGatewayParts,
): Promise<FastifyInstance> {
  const { admin } = core.settings;
  return await createAdminApp({
    ...parts,
    ...core,
    gateway,
    changeRequests,
    proposals,
    selfApproval: () => core.settings.admin.approvals.selfApproval,
    applianceNamesOf: (principal) => [...core.appliances.keys()].filter((name) => principal.covers(name)),
    describe: () => fleet.describe().appliances.map((each) => ({ ...each, vip: reachOf(each.name, core.settings) })),
    tls: admin.tls,
    timeoutMs: admin.timeoutMs,
  });
}

/** Returns what the collector `vip` may connect to; undefined while it is off. */
function reachOf(name: string, { appliances }: GatewaySettings) {
  const { vip, collectors } = appliances.find((each) => each.name === name) ?? {};
  return vip && collectors?.vip?.enabled ? { connect_to: vip.connectTo, networks: [...vip.networks] } : undefined;
}

function bodyLimitsOf({ auditFile, auditFileBytes, uploadBytes, downloadBytes, timeoutMs }: AdminSettings): BodyLimits {
  const largestBody = Math.max(uploadBytes, downloadBytes);
  const spool = createSpool({
    folder: dirname(auditFile),
    maxBytesPerPrincipal: 2 * largestBody,
    maxBytes: 4 * largestBody,
    // A large answer must not fill the disk: changes need the audit.
    keepFreeBytes: auditFileBytes,
  });
  // A stalled caller gets no more time than an appliance would.
  return { uploadBytes, patienceMs: Math.min(timeoutMs, maxBodyMs), spool };
}

function announce({ settings, journal, freeze }: Core, url: string, parts: StartGatewayParts): void {
  // The journal logs an audit that cannot be written, now and not at the first change; nothing
  // waits for it.
  void journal.append(startedRecord).catch(() => undefined);
  const { length: tokens } = settings.admin.tokens;
  parts.log.info({ url, tokens, frozen: freeze.state !== undefined }, 'admin gateway listening');
  logWarnings(settings, parts);
}

function update(core: Core, next: GatewaySettings, app: FastifyInstance, parts: StartGatewayParts): boolean {
  const before = core.settings;
  if (!fitsListener(before.admin, next.admin)) return false;
  core.settings = next;
  if (!isSame(before.admin, next.admin)) logWarnings(next, parts);
  core.principals.replace(next.admin.tokens);
  if (next.admin.tls && !isSame(before.admin.tls, next.admin.tls)) presentCertificate(app.server, next.admin.tls);
  reconnectChanged(core.appliances, { before, next, parts });
  return true;
}

async function closeGateway(
  core: Core,
  requests: StartedRequests,
  app: FastifyInstance,
  { metrics }: StartGatewayParts,
): Promise<void> {
  const { queue, appliances, recorder, journal } = core;
  // Calls whose callers left get the same time as the callers that are still connected.
  await Promise.all([app.close(), requests.close(), queue.close(closeGraceMs)]);
  await Promise.all([...appliances.values()].flatMap(({ relay, client }) => [relay.close(), client.close()]));
  await recorder.close();
  await journal.close();
  metrics.frozen(undefined);
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
  const fixed = ({ tokens: _tokens, approvals: _approvals, tls, ...rest }: AdminSettings): unknown => ({
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
