import { backendsCollector, type FarmBackends } from '../src/collectors/backends.ts';
import { collectorFamilies } from '../src/collectors/registry.ts';
import { writeReading } from '../src/collectors/rows.ts';
import { fillRegistry } from '../src/metrics/render.ts';
import { createMetricsStore } from '../src/metrics/store.ts';
import { medians, timed } from './measure.ts';
import { registryOf, seriesOf } from './references.ts';
import { compare, type Result } from './results.ts';

/** About 2,500 series. */
const size = { farms: 20, backends: 12 };
const atMost = 0.1;
const rounds = 20;
const form = { format: 'text', encoding: 'identity' } as const;

/**
 * Renders the readings of one appliance, in this process; beside it, prom-client
 * renders a whole page.
 */
export async function readingResults(page: string): Promise<Result> {
  const registry = registryOf(page);
  const store = createMetricsStore(collectorFamilies);
  store.arrange(['lb']);
  const [ours, reference] = await medians(rounds, [
    () => {
      const readings = Array.from({ length: size.farms }, (_, farm) => farmBackends(`farm-${farm}`));
      return timed(async () => {
        for (const reading of readings) {
          const write = writeReading(backendsCollector.families, reading, { compact: false });
          store.put('lb', reading.farm, fillRegistry('lb', write), { rank: 0, maxSeries: 1_000_000 });
        }
        // Resolves once they are rendered; a page of no appliance takes no time.
        await store.exposition(form, new Set());
      });
    },
    () => timed(() => registry.metrics()),
  ]);
  const [series, all] = [store.series('lb').shown, seriesOf(page)].map((count) => count.toLocaleString('en'));
  const name = `rendering readings of ${series} series (registry.metrics() of prom-client for ${all})`;
  return compare({ name, unit: 'ms', ours, reference, atMost });
}

function farmBackends(farm: string): FarmBackends {
  const below = (limit: number): number => Math.floor(Math.random() * limit);
  return {
    farm,
    sessions: below(1_000),
    backends: Array.from({ length: size.backends }, (_, index) => ({
      farm,
      service: '',
      backend: `10.0.0.${index}:8080`,
      id: String(index),
      ip: `10.0.0.${index}`,
      port: '8080',
      state: below(20) === 0 ? 'down' : 'up',
      established: below(2_000),
      pending: below(20),
      maxConnections: 10_000,
      weight: 1 + below(5),
      priority: 1,
    })),
  };
}
