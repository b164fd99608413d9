import type { Logger } from 'pino';
import { createApplianceClient } from '../../appliance/client.ts';
import { createRelay } from '../../appliance/relay.ts';
import { type CreateJournalThread, Journal } from '../journal/journal.ts';
import type { AdminSettings, ApplianceSettings, Settings } from '../../config/settings.ts';
import type { ChangesParts } from '../changes/context.ts';
import type { GatewayParts } from '../calls/gateway.ts';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import { createFreezeSwitch, type FreezeSwitch } from '../policy/freeze.ts';
import { createOperations, type Operations } from '../policy/operation.ts';
import { createPrincipals, type Principals } from '../policy/principal.ts';
import type { AdminAppliance } from '../calls/session.ts';
import { BodyMemory } from '../calls/body-memory.ts';
import { createRecorder, type Recorder } from '../calls/recorder.ts';
import type { BodyLimits } from '../calls/request-body.ts';
import { createRequestQueue, type RequestQueue } from '../calls/request-queue.ts';
import type { BasePaths } from '../../appliance/base-paths.ts';
import type { HostResolver } from '../../lib/host-resolver.ts';
import type { Secret } from '../../lib/secret.ts';
import { steadyNow } from '../../lib/time.ts';
import type { Fleet } from '../../scheduler/fleet.ts';

export interface GatewaySettings extends Settings {
  readonly admin: AdminSettings;
}

export interface GatewayDependencies {
  readonly fleet: Pick<Fleet, 'refresh' | 'status' | 'statusOf'>;
  readonly recordInHistory: GatewayParts['recordInHistory'];
  readonly metrics: AdminMetrics;
  readonly resolver: HostResolver;
  readonly basePaths: BasePaths;
  readonly build: { readonly version: string };
  readonly log: Logger;
  /** Gets each record of the journal as a line. */
  readonly recordLog: Logger;
  readonly now: () => number;
  /** Replaces the clock and the timers of waits. */
  readonly waits?: Pick<ChangesParts, 'sleep' | 'steadyNow'> | undefined;
  readonly createJournalThread?: CreateJournalThread | undefined;
}

/** Limits the journal to a few dozen megabytes an hour; no mistake causes that many refusals. */
export const maxDenialsPerMinute = 1_000;

/** Limit for a body that is not a file, and before the minimum rate of a file applies. */
export const maxBodyMs = 20_000;
/** Per appliance, for reads and changes each. */
export const maxWaiting = 16;
export const maxQueueWaitMs = 30_000;
/** A call without a response keeps its slot in the queue for this multiple of `admin.timeout`. */
const slotTimeoutFactor = 2;

/** The parts of a gateway that live as long as it listens. */
export interface GatewayServices extends GatewayDependencies {
  /** The active settings; a reload replaces them. */
  settings: GatewaySettings;
  readonly operations: Operations;
  readonly bodyLimits: BodyLimits;
  readonly freeze: FreezeSwitch;
  /** The appliances by name; a reload changes the content. */
  readonly appliances: Map<string, AdminAppliance>;
  readonly queue: RequestQueue;
  readonly principals: Principals;
  readonly journal: Journal;
  readonly recorder: Recorder;
}

/** Creates everything but the listener and the changes. */
export function createGatewayServices(settings: GatewaySettings, parts: GatewayDependencies): GatewayServices {
  const { metrics, log, now } = parts;
  const { admin } = settings;
  metrics.setFrozen(false);
  const freeze = createFreezeSwitch(now, (isFrozen) => metrics.setFrozen(isFrozen));
  const principals = createPrincipals(admin.tokens, now);
  const journal = new Journal({
    file: admin.journalFile,
    now,
    log,
    recordLog: parts.recordLog,
    onAppended: (records, atMs) => metrics.recordAuditWrite(records, atMs),
    onFailed: () => metrics.countAuditFailure(),
    createThread: parts.createJournalThread,
  });
  journal.onOpened((opened) => freeze.load(opened.freeze));
  const recorder = createRecorder({
    journal,
    keys: () => keysOf(services.settings),
    isToken: (word) => principals.isToken(word),
    onLost: (error, { id }) => log.error({ err: error, request: id }, 'record of the journal lost'),
    steadyNow,
    maxDenialsPerMinute,
  });
  const services: GatewayServices = {
    ...parts,
    settings,
    operations: createOperations(),
    bodyLimits: {
      // A stalled caller gets no more time than an appliance would.
      timeoutMs: () => Math.min(services.settings.admin.timeoutMs, maxBodyMs),
      memory: new BodyMemory(),
    },
    freeze,
    appliances: new Map(settings.appliances.map((each) => [each.name, connectAdmin(each, settings, parts)])),
    queue: createRequestQueue({
      maxReads: () => services.settings.admin.maxConcurrentPerAppliance,
      maxWaiting,
      maxQueueWaitMs,
    }),
    principals,
    journal,
    recorder,
  };
  return services;
}

function keysOf({ appliances }: GatewaySettings): readonly Secret[] {
  return appliances.flatMap(({ apiKey, adminApiKey }) => [apiKey, ...(adminApiKey ? [adminApiKey] : [])]);
}

/** Connects separately from polling: a slow download must not delay a poll, nor a poll a change. */
export function connectAdmin(
  { name, url, tls, apiKey, adminApiKey, keyHeader }: ApplianceSettings,
  { admin, polling, limits }: GatewaySettings,
  { fleet, resolver, basePaths, now }: Pick<GatewayDependencies, 'fleet' | 'resolver' | 'basePaths' | 'now'>,
): AdminAppliance {
  const shared = {
    url,
    tls,
    resolver,
    basePaths,
    apiKey: adminApiKey ?? apiKey,
    otherKey: adminApiKey && apiKey,
    keyHeader,
  };
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
    now,
    onCall: () => undefined,
  });
  return { name, relay, client, knownFarms: () => fleet.statusOf(name)?.farms };
}
