import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { collectors } from '../../src/collectors/registry.ts';
import { familiesByPart } from '../../src/app/appliance-families.ts';
import { History } from '../../src/history/history.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import type { NewReading } from '../../src/state/reading.ts';
import { createTestPoller, type Target } from './poller.ts';
import { textOf } from './store-text.ts';

const appliance = { name: 'lb-test', address: '' };

/** An appliance that a test reads by hand, with its history. */
export async function givenHistory(
  target: Target,
  apiKey: string,
  { now = Date.now, file }: { readonly now?: () => number; readonly file?: string } = {},
) {
  const store = createMetricsStore(familiesByPart.history);
  store.arrange([appliance.name]);
  const registry = new Registry();
  const lines: string[] = [];
  const found: NewReading[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const history = new History({ file, keepMs: 1e12 }, { metrics: store, registry, log, now });
  await history.watch([appliance]);
  const { poller, close } = createTestPoller(target, {
    apiKey,
    parts: { listeners: [history.listenerOf(appliance), { onReading: (reading) => void found.push(reading) }], now },
  });
  let closed: Promise<void> | undefined;
  const stop = (): Promise<void> => (closed ??= close().then(() => history.close()));
  onTestFinished(stop);
  return {
    log: lines,
    /** Returns all objects that were configured in the readings since the last call. */
    configured: () => found.splice(0).flatMap(({ collector, data }) => collector.configuredObjects?.(data) ?? []),
    /** Runs each collector that asks the appliance, once. */
    async readAll() {
      for (const { name, enabled, makesNoCalls } of collectors) if (enabled && !makesNoCalls) await poller.run(name);
    },
    /** The events of the configuration, the newest first. */
    events: async () => (await history.find({ kinds: ['configuration'], limit: 1_000 })).events,
    found: () => history.find({ limit: 1 }),
    lost: async () => (await registry.getSingleMetric('zlb_exporter_history_lost_total')!.get()).values[0]?.value,
    metrics: () => textOf(store),
    stop,
  };
}
