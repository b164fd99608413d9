import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Format } from './page.ts';
import { type Piece, toPiece } from './piece.ts';
import { registryText } from './registry-text.ts';

/** CPU, memory, files, event loop and garbage collection of this process, under the names that prom-client gives them. */
export interface ProcessMetrics {
  piece(format: Format): Promise<Piece>;
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
// replicas do, the second would see nothing but the first.
const sharedForMs = 1_000;

export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of unwanted) registry.removeSingleMetric(name);
  const newest = new Map<Format, { readonly renderedAtMs: number; readonly piece: Promise<Piece> }>();

  return {
    piece(format) {
      const nowMs = performance.now();
      const last = newest.get(format);
      if (last && nowMs - last.renderedAtMs < sharedForMs) return last.piece;
      const piece = registryText(registry, format).then(toPiece);
      newest.set(format, { renderedAtMs: nowMs, piece });
      return piece;
    },
  };
}
