import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { renderRegistry } from '../../src/metrics/render.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import { type PolledFarm, requestFamilies } from '../../src/request-log/counts.ts';
import { RequestLog, type RequestLogSettings } from '../../src/request-log/request-log.ts';
import { valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

export const farms = [{ name: 'shop', backends: [{ service: 'front', backend: '10.0.0.1:80' }] }];

/** A receiver of the lines of one appliance, whose farm `shop` is known. */
export async function givenRequestLog(settings: Partial<RequestLogSettings> = {}) {
  const store = createMetricsStore(requestFamilies);
  store.arrange(['lb']);
  const registry = new Registry();
  const known: { farms: readonly PolledFarm[] | undefined } = { farms };
  const logged: string[] = [];
  const log = new RequestLog({
    store,
    registry,
    farmsOf: () => known.farms,
    log: pino({ level: 'warn' }, { write: (text: string) => void logged.push(text) }),
  });
  onTestFinished(() => log.close());
  const all: RequestLogSettings = {
    receiver: { listenUdp: '127.0.0.1:0', listenTcp: '127.0.0.1:0' },
    buckets: [100, 300],
    appliances: [{ name: 'lb', from: ['127.0.0.1'], objectives: [] }],
    ...settings,
  };
  (await log.prepare(all)).commit();
  const page = async () => {
    log.publish();
    const parts = (await store.exposition({ format: 'text', encoding: 'identity' })).finish('');
    return Buffer.concat(parts).toString() + (await renderRegistry(registry));
  };
  const has = (name: string, labels: Record<string, string>, count: number) =>
    until(
      async () => valueOf(await page(), name, labels),
      (value) => value === count,
    );
  return {
    log,
    logged,
    store,
    settings: all,
    known,
    page,
    port: (index: number) => Number(log.addresses[index]?.split(':').at(-1)),
    has,
    counts: (count: number) => has('zlb_requests_total', { code: '2xx' }, count),
  };
}
