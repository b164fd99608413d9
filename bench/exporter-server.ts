import { pino } from 'pino';
import { readBuildInfo } from '../src/build-info.ts';
import { listen } from '../src/http/listen.ts';
import { createMetricsApp } from '../src/http/metrics-app.ts';
import { createSelfMetrics } from '../src/metrics/self.ts';
import type { Monitor } from '../src/monitor/monitor.ts';
import { createFleet } from './fleet.ts';

// The child process that serves the fleet as the exporter does. It takes the next readings of the appliance that a
// message names, and answers once they are shown.
const fleet = await createFleet();
const monitor: Monitor = {
  appliances: fleet.appliances.map((name) => ({ name, labels: {} })),
  watches: (appliance) => fleet.appliances.includes(appliance),
  start: () => undefined,
  page: (form, appliances) => fleet.store.page(form, appliances),
  ready: true,
  describe: () => ({ appliances: [], transitions: [] }),
  changed: () => undefined,
  close: () => Promise.resolve(),
};
const build = readBuildInfo({});
const app = createMetricsApp({
  monitor,
  shardWatching: () => undefined,
  self: createSelfMetrics(build),
  build,
  adminUrl: () => undefined,
  log: pino({ level: 'silent' }),
  now: Date.now,
});

process.on('message', ({ appliance }: { appliance: string }) => void takeReadings(appliance));
process.on('disconnect', () => process.exit());
process.send?.({ url: await listen(app, '127.0.0.1:0', 'the address') });

async function takeReadings(appliance: string): Promise<void> {
  fleet.take(appliance, await fleet.collect(appliance));
  // Resolves once they are rendered and compressed: that is measured by itself.
  await fleet.store.page({ format: 'text', encoding: 'gzip' }, new Set());
  process.send?.({ taken: appliance });
}
