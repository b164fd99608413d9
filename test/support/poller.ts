import { pino } from 'pino';
import { type ApplianceClient, createApplianceClient } from '../../src/appliance/client.ts';
import { createDecoder } from '../../src/appliance/decode.ts';
import { collectorFamilies, collectors } from '../../src/collectors/registry.ts';
import { Secret } from '../../src/lib/secret.ts';
import { createMetricsStore, type MetricsStore } from '../../src/metrics/store.ts';
import {
  type AppliancePoller,
  type AppliancePollerParts,
  createAppliancePoller,
} from '../../src/monitor/appliance-poller.ts';
import { createCounters } from '../../src/monitor/counters.ts';
import { createCron } from '../../src/monitor/cron.ts';
import { ownFamilies } from '../../src/monitor/collector-statistics.ts';
import { textOf } from './store-text.ts';

/** What a poller needs to know of a server that plays an appliance. */
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

/** One poller on one appliance, as the daemon would build it, without a listener. */
export function createTestPoller(
  target: Target,
  options: { apiKey: string; timeoutMs?: number; parts?: Partial<AppliancePollerParts>; bodyBytes?: number },
): TestPoller {
  const { parts = {} } = options;
  const now = parts.now ?? Date.now;
  const log = parts.log ?? pino({ level: 'silent' });
  const cron = parts.cron ?? createCron(log);
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

  const poller = createAppliancePoller({
    name,
    labels: {},
    watches: () => true,
    compact: false,
    collectors: collectors
      .filter(({ enabled }) => enabled)
      .map((collector) => ({ collector, schedule: collector.schedule, maxStaleMs: collector.maxStaleMs })),
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
        async read(key, params, signal) {
          outstanding += 1;
          try {
            return await client.read(key, params, signal);
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
    async close() {
      await poller.close();
      await cron.close();
    },
  };
}

function createStoreFor(appliance: string): MetricsStore {
  const store = createMetricsStore([...collectorFamilies, ...ownFamilies]);
  store.arrange([appliance]);
  return store;
}
