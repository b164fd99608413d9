import { pino } from 'pino';
import { type ApplianceClient, createApplianceClient } from '../../src/appliance/client.ts';
import { createDecoder } from '../../src/appliance/decode.ts';
import type { Collector } from '../../src/collectors/collector.ts';
import { collectorFamilies, collectors } from '../../src/collectors/registry.ts';
import { Secret } from '../../src/lib/secret.ts';
import { createMetricsStore, type MetricsStore } from '../../src/metrics/store.ts';
import { AppliancePoller } from '../../src/poller/appliance-poller.ts';
import type { AppliancePollerParts } from '../../src/poller/poller-parts.ts';
import { createCounters } from '../../src/poller/counters.ts';
import { createCron } from '../../src/poller/schedule.ts';
import type { ScheduledCollector } from '../../src/poller/job.ts';
import { ownFamilies } from '../../src/poller/own-numbers.ts';
import { textOf } from './store-text.ts';

/** The facts that a poller needs about a server that acts as an appliance. */
export interface Target {
  readonly url: string;
  readonly fingerprintSha256: string;
}

export interface TestPoller {
  readonly poller: AppliancePoller;
  /** The page of this appliance, without what is too old. */
  page(): Promise<string>;
  /** Calls that the client has begun and not finished. */
  readonly outstanding: number;
  close(): Promise<void>;
}

/** Collectors with their own schedules. */
export function scheduled(list: readonly Collector[]): readonly ScheduledCollector[] {
  return list.map((collector) => ({ collector, schedule: collector.schedule, maxStaleMs: collector.maxStaleMs }));
}

/** The settings of the collector vip where none are written. */
export const plainVip = { serverNames: {}, connectTo: {}, networks: [] };

/** One poller on one appliance, as the daemon would build it, without a listener. */
export function createTestPoller(
  target: Target,
  options: { apiKey: string; timeoutMs?: number; parts?: Partial<AppliancePollerParts>; bodyBytes?: number },
): TestPoller {
  const { parts = {} } = options;
  const now = parts.now ?? Date.now;
  const log = parts.log ?? pino({ level: 'silent' });
  const cron = parts.cron ?? createCron();
  const name = parts.name ?? 'lb-test';
  const polling = {
    timeoutMs: 20_000,
    maxConcurrentPerAppliance: 1,
    maxBusyRatio: 1,
    jitterRatio: 0.1,
    ...parts.polling,
  };
  const store = parts.store ?? createStoreFor(name);
  let outstanding = 0;

  const poller = new AppliancePoller({
    name,
    url: 'https://192.0.2.10:444',
    labels: {},
    watches: () => true,
    vip: plainVip,
    compact: false,
    collectors: scheduled(collectors.filter(({ enabled }) => enabled)),
    maxSeries: 50_000,
    counters: createCounters(name),
    onTransition: () => undefined,
    random: () => 0.5,
    ...parts,
    polling,
    store,
    cron,
    log,
    now,
    connect: (onCall): ApplianceClient => {
      const client = createApplianceClient({
        url: new URL(target.url),
        tls: { fingerprintSha256: target.fingerprintSha256, insecureSkipVerify: false },
        apiKey: new Secret(options.apiKey),
        keyHeader: 'auto',
        timeoutMs: polling.timeoutMs,
        maxConnections: polling.maxConcurrentPerAppliance,
        bodyBytes: options.bodyBytes ?? 8 * 1_048_576,
        decode: createDecoder(),
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
    get outstanding() {
      return outstanding;
    },
    page() {
      poller.expire();
      return textOf(store);
    },
    close: () => poller.close(),
  };
}

function createStoreFor(appliance: string): MetricsStore {
  const store = createMetricsStore([...collectorFamilies, ...ownFamilies]);
  store.arrange([appliance]);
  return store;
}
