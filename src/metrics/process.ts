import { collectDefaultMetrics, Registry } from 'prom-client';
import { renderRegistry } from './render.ts';

/** CPU, memory, files, event loop and garbage collection of this process, under the names that prom-client gives them. */
export interface ProcessMetrics {
  /** Classic text; the same for a second. */
  text(): Promise<string>;
}

/** Names that break the naming rules (a gauge must not end in `_total`), lists of handles, and a minimum that is 2^63 ns when idle. */
const unwanted = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_requests',
  'nodejs_active_resources',
  'nodejs_eventloop_lag_min_seconds',
];

// prom-client empties its histogram of event loop lag at each rendering; of two scrapers that come together, as
// replicas do, the second would see nothing but the first. In whichever format: a counter that one of them saw must not
// be lower in the other.
const sharedForMs = 1_000;

export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of unwanted) registry.removeSingleMetric(name);
  let text = Promise.resolve('');
  let renderedAtMs = Number.NEGATIVE_INFINITY;

  return {
    text() {
      const nowMs = performance.now();
      if (nowMs - renderedAtMs >= sharedForMs) {
        renderedAtMs = nowMs;
        text = renderRegistry(registry);
      }
      return text;
    },
  };
}
