import type { Logger } from 'pino';
import { createAdminMetrics } from './admin/admin-metrics.ts';
import { createAuditJournal } from './admin/audit/journal.ts';
import { createDiscovery } from './admin/discovery.ts';
import { openFreezeSwitch } from './admin/freeze.ts';
import { type AdminAppliance, createGateway } from './admin/gateway.ts';
import { createLanes } from './admin/lanes.ts';
import { createOperations } from './admin/operation.ts';
import { createParameters } from './admin/parameters.ts';
import { createPrincipals } from './admin/principal.ts';
import { createRecorder } from './admin/recorder.ts';
import { createApplianceClient } from './appliance/client.ts';
import type { Decode } from './appliance/decode.ts';
import { createRelay } from './appliance/relay.ts';
import type { BuildInfo } from './build-info.ts';
import type { AdminSettings } from './config/admin-settings.ts';
import type { ApplianceSettings, Settings } from './config/settings.ts';
import { createAdminApp } from './http/admin-app.ts';
import { listen } from './http/listen.ts';
import type { SelfMetrics } from './metrics/self.ts';
import type { Monitor } from './monitor/monitor.ts';

export interface GatewayStart {
  readonly admin: AdminSettings;
  readonly settings: Settings;
  readonly monitor: Pick<Monitor, 'changed' | 'describe'>;
  readonly self: Pick<SelfMetrics, 'registry'>;
  readonly decode: Decode;
  readonly build: BuildInfo;
  readonly log: Logger;
  readonly now: () => number;
}

/** The admin gateway, listening. */
export interface StartedGateway {
  readonly url: string;
  close(): Promise<void>;
}

/** More than anybody makes by mistake, and a few dozen megabytes an hour at the worst. */
const mostDenialsPerMinute = 1_000;
const startedRecord = { event: 'started', request: '-', principal: '-', role: '-', method: '-', path: '-' } as const;

const longestBodyPauseMs = 20_000;

/** Puts the parts of the gateway together; rejects when its address cannot be listened on. */
export async function startGateway(start: GatewayStart): Promise<StartedGateway> {
  const { admin, settings, monitor, self, build, log, now } = start;
  const metrics = createAdminMetrics(self.registry);
  const appliances = new Map(settings.appliances.map((each) => [each.name, connectAdmin(each, start)]));
  const names = [...appliances.keys()];
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
    keys: settings.appliances.flatMap(({ apiKey, adminApiKey }) => [apiKey, ...(adminApiKey ? [adminApiKey] : [])]),
    isToken: (word) => principals.isToken(word),
    onLost: (error, { id }) => log.error({ err: error, request: id }, 'audit record lost'),
    now,
    mostDenials: mostDenialsPerMinute,
  });
  const freeze = await openFreezeSwitch(`${admin.auditFile}.frozen`, now);
  metrics.frozen(freeze.state !== undefined);
  const operations = createOperations();
  const lanes = createLanes(admin.maxConcurrentPerAppliance);
  const gateway = createGateway({
    appliances,
    operations,
    lanes,
    recorder,
    freeze,
    now,
    // A caller that stands still gets no more patience than an appliance would.
    bodyLimits: { uploadBytes: admin.uploadBytes, patienceMs: Math.min(admin.timeoutMs, longestBodyPauseMs) },
    onChanged: (appliance, area, farm) => monitor.changed(appliance, area, farm),
  });
  const app = await createAdminApp({
    gateway,
    operations,
    parameters: createParameters({ lanes, recorder, freeze }),
    principals,
    recorder,
    journal,
    freeze,
    metrics,
    applianceNamesOf: (principal) => names.filter((name) => principal.covers(name)),
    describe: () => monitor.describe(),
    tls: admin.tls,
    timeoutMs: admin.timeoutMs,
    build,
    log,
  });
  const url = await listen(app, admin.listenAddress, 'admin.listen_address');
  // An audit that cannot be written is logged by the journal, now and not at the first change; nothing waits for it.
  void journal.append(startedRecord).catch(() => undefined);
  log.info({ url, tokens: admin.tokens.length, frozen: freeze.state !== undefined }, 'admin gateway listening');
  const expired = admin.tokens.filter(({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs <= now());
  for (const { name } of expired) log.warn({ principal: name }, 'token has expired');
  for (const { name, adminApiKey } of settings.appliances)
    if (!adminApiKey) log.info({ appliance: name }, 'no admin_api_key, the gateway uses the key for polling');

  return {
    url,
    async close() {
      await app.close();
      await Promise.all([...appliances.values()].flatMap(({ relay, client }) => [relay.close(), client.close()]));
      await recorder.close();
      await journal.close();
    },
  };
}

/** Connections of the gateway's own: a slow download holds up no poll, and a poll no change. */
function connectAdmin(
  { name, url, tls, apiKey, adminApiKey, keyHeader }: ApplianceSettings,
  { admin, settings, decode, now }: GatewayStart,
): AdminAppliance {
  const shared = { url, tls, apiKey: adminApiKey ?? apiKey, otherKey: adminApiKey && apiKey, keyHeader };
  const relay = createRelay({
    ...shared,
    timeoutMs: admin.timeoutMs,
    // For the reads that may pass together, and the one change beside them: nothing waits out of our sight.
    maxConnections: admin.maxConcurrentPerAppliance + 1,
    bodyBytes: admin.downloadBytes,
  });
  const client = createApplianceClient({
    ...shared,
    timeoutMs: settings.polling.timeoutMs,
    maxConnections: 1,
    bodyBytes: settings.limits.bodyBytes,
    decode,
    now,
    onCall: () => undefined,
  });
  return { name, relay, client, discovery: createDiscovery(relay) };
}
