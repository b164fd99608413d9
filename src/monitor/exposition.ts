import type { BreakerState } from '../appliance/breaker.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { fillRegistry } from '../metrics/render.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { Counters } from './counters.ts';
import type { Job } from './job.ts';
import type { CollectorStatistics } from './collector-statistics.ts';
import type { ReadingStore } from './reading-store.ts';

/** Puts into the metrics store what is no reading: the exporter's own numbers, and what a collector shows without a reading. */
export interface Exposition {
  /** Notes that the statistics or the counters changed; the next refresh shows it. */
  publish(): void;
  /** Shows what a collector says without a reading, if it has no reading and says anything. */
  withoutReading(job: Job): void;
  /** Evicts stale readings. */
  evict(jobs: ReadonlyMap<string, Job>, ageMs: number): void;
  /** `zlb_up`; undefined until the first call came back. */
  isUp(ageMs: number): boolean | undefined;
  /** Refreshes `zlb_up` if it changed, so that fresh samples never appear next to `zlb_up 0`, and all else that was published. */
  refresh(): void;
  /** Evicts stale readings and refreshes the rest: afterwards the store has what is true now. */
  expire(jobs: ReadonlyMap<string, Job>): void;
  /** Series of the appliance without the exporter's own. */
  readonly series: number;
}

export interface ExpositionParts {
  readonly appliance: string;
  readonly store: MetricsStore;
  readonly statistics: CollectorStatistics;
  readonly counters: Counters;
  readonly readingStore: ReadingStore;
  readonly breakerState: () => BreakerState;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

/** Keys of the exporter's own numbers in the store. */
const ownKeys = { gauges: 'exporter', counters: 'exporter counters' } as const;

export function createExposition(parts: ExpositionParts): Exposition {
  const { appliance, store, statistics, counters, readingStore, breakerState, age } = parts;
  let shownUp: boolean | undefined;
  let isBehind = false;

  function refresh(): void {
    const ageMs = age();
    const up = statistics.isUp(ageMs);
    if (!isBehind && up === shownUp) return;
    isBehind = false;
    shownUp = up;
    const state = { ageMs, breaker: breakerState(), series: seriesHeld() };
    store.put(appliance, ownKeys.counters, counters.reading());
    store.put(
      appliance,
      ownKeys.gauges,
      fillRegistry(appliance, (emit) => statistics.expose(emit, state)),
    );
  }

  function seriesHeld(): number {
    return store.series(appliance, Object.values(ownKeys));
  }

  function withoutReading({ collector }: Job): void {
    if (isFarmCollector(collector) || collector.withoutReading === undefined || readingStore.has(collector.name))
      return;
    const write = writeReading(collector.families, collector.withoutReading, { compact: false });
    store.put(appliance, collector.name, fillRegistry(appliance, write));
  }

  function evict(jobs: ReadonlyMap<string, Job>, ageMs: number): void {
    for (const loser of readingStore.expire(ageMs)) {
      isBehind = true;
      const job = jobs.get(loser);
      if (!job) continue;
      // However far its schedule is stretched, it is read again as soon as the appliance answers.
      job.missed = true;
      withoutReading(job);
    }
  }

  return {
    publish() {
      isBehind = true;
    },
    withoutReading,
    evict,
    isUp: (ageMs) => statistics.isUp(ageMs),
    refresh,
    expire(jobs) {
      evict(jobs, age());
      refresh();
    },
    get series() {
      return seriesHeld();
    },
  };
}
