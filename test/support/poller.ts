import { pino } from 'pino';
import { type ApplianceClient, createApplianceClient } from '../../src/appliance/client.ts';
import type { Collector } from '../../src/collectors/collector.ts';
import { collectorFamilies, collectors } from '../../src/collectors/registry.ts';
import { createSlots } from '../../src/lib/slots.ts';
import { HostResolver } from '../../src/lib/host-resolver.ts';
import { Secret } from '../../src/lib/secret.ts';
import { createMetricsStore, type MetricsStore } from '../../src/metrics/store.ts';
import { AppliancePoller } from '../../src/scheduler/appliance-poller.ts';
import type { AppliancePollerParts } from '../../src/scheduler/poller-services.ts';
import { createCounters } from '../../src/scheduler/counters.ts';
import { createCron } from '../../src/scheduler/schedule.ts';
import type { ScheduledCollector } from '../../src/scheduler/job.ts';
import { pollerFamilies } from '../../src/scheduler/poller-metrics.ts';
import { textOf } from './store-text.ts';

/** The facts that a poller needs about a server that acts as an appliance. */
export interface Target {
  readonly url: string;
  readonly fingerprintSha256: string;
}

/** Collectors with their own schedules. */
export function scheduled(list: readonly Collector[]): readonly ScheduledCollector[] {
  return list.map((collector) => ({ collector, schedule: collector.schedule, maxStaleMs: collector.maxStaleMs }));
}

/** The collectors that are on by default, without that which connects to farms. */
export const polled = collectors.filter(({ enabled, makesNoCalls }) => enabled && !makesNoCalls);

/** The settings of the collector vip, switched on without any other. */
export const plainVip = { serverNames: {}, connectTo: {}, networks: [] };

const usualPolling = {
  timeoutMs: 20_000,
  maxConcurrentPerAppliance: 1,
  maxBusyRatio: 1,
  routineBusyRatio: 1,
  jitterRatio: 0.1,
};

type Parts = Partial<Omit<AppliancePollerParts, 'connect'>>;

/** A poller as the daemon would build it, with the differences that a test names. */
export function createPoller({
  name = 'lb-test',
  ...parts
}: Parts & Pick<AppliancePollerParts, 'connect'>): AppliancePoller {
  return new AppliancePoller({
    name,
    url: 'https://192.0.2.10:444',
    labels: {},
    watches: () => true,
    vip: plainVip,
    inProbeSlot: createSlots(64),
    compact: false,
    collectors: scheduled(polled),
    polling: usualPolling,
    maxSeries: 50_000,
    maxBytes: 32_000_000,
    counters: createCounters(name),
    store: createStoreFor(name),
    cron: createCron(),
    log: pino({ level: 'silent' }),
    now: Date.now,
    random: () => 0.5,
    ...parts,
  });
}

/** A store for the page of one appliance. */
export function createStoreFor(appliance: string): MetricsStore {
  const store = createMetricsStore([...collectorFamilies, ...pollerFamilies]);
  store.arrange([appliance]);
  return store;
}

/** One poller on one appliance, without a listener. */
export function createTestPoller(
  target: Target,
  { apiKey, parts = {}, bodyBytes = 8 * 1_048_576 }: { apiKey: string; parts?: Parts; bodyBytes?: number },
) {
  const { now = Date.now, polling = usualPolling, store = createStoreFor(parts.name ?? 'lb-test') } = parts;
  let outstanding = 0;
  const poller = createPoller({
    ...parts,
    store,
    connect: (onCall): ApplianceClient => {
      const client = createApplianceClient({
        url: new URL(target.url),
        tls: { fingerprintSha256: target.fingerprintSha256, insecureSkipVerify: false },
        apiKey: new Secret(apiKey),
        keyHeader: 'auto',
        resolver: new HostResolver(),
        timeoutMs: polling.timeoutMs,
        maxConnections: polling.maxConcurrentPerAppliance,
        bodyBytes,
        now,
        onCall,
      });
      return {
        ...client,
        async read(key, params, signal, options) {
          outstanding += 1;
          try {
            return await client.read(key, params, signal, options);
          } finally {
            outstanding -= 1;
          }
        },
      };
    },
  });
  return {
    poller,
    /** Calls that the client has begun and not finished. */
    get outstanding() {
      return outstanding;
    },
    /** The page of this appliance, without what is too old. */
    page() {
      poller.expire();
      return textOf(store);
    },
    close: () => poller.close(),
  };
}
