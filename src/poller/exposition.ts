import type { BreakerState } from '../appliance/breaker.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { fillRegistry } from '../metrics/render.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { type CollectorStatistics, ownGauges } from './collector-statistics.ts';
import type { Counters } from './counters.ts';
import type { Job } from './job.ts';
import type { ReadingStore } from './reading-store.ts';

export interface ExpositionParts {
  readonly appliance: string;
  readonly store: MetricsStore;
  readonly statistics: CollectorStatistics;
  readonly counters: Counters;
  readonly readingStore: ReadingStore;
  readonly breakerState: () => BreakerState;
  /** See lib/time.ts. */
  readonly age: () => number;
}

/** Keys of the exporter's own numbers in the store. */
const ownKeys = { gauges: 'exporter', counters: 'exporter counters' } as const;

/**
 * Puts into the metrics store what is no reading: the exporter's own numbers, and what a collector
 * shows without a reading.
 */
export class Exposition {
  readonly #parts: ExpositionParts;
  #shownUp: boolean | undefined;
  #isBehind = false;

  constructor(parts: ExpositionParts) {
    this.#parts = parts;
  }

  /** Returns the number of series of the appliance without the exporter's own. */
  get series(): number {
    return this.#parts.store.series(this.#parts.appliance, Object.values(ownKeys));
  }

  /** Marks the statistics or counters as changed, for the next refresh. */
  invalidate(): void {
    this.#isBehind = true;
  }

  /** Shows what a collector says without a reading, if it has no reading and says anything. */
  withoutReading({ collector }: Job): void {
    const { appliance, store, readingStore } = this.#parts;
    if (isFarmCollector(collector) || collector.withoutReading === undefined || readingStore.has(collector.name))
      return;
    const write = writeReading(collector.families, collector.withoutReading, { compact: false });
    store.put(appliance, collector.name, fillRegistry(appliance, write));
  }

  /**
   * Refreshes `zlb_up` if it changed, so that fresh samples never appear next to `zlb_up 0`, and
   * all that was invalidated.
   */
  refresh(): void {
    const { appliance, store, statistics, counters, breakerState, age } = this.#parts;
    const ageMs = age();
    const up = statistics.isUp(ageMs);
    if (!this.#isBehind && up === this.#shownUp) return;
    this.#isBehind = false;
    this.#shownUp = up;
    const numbers = statistics.numbers(ageMs, { breaker: breakerState(), series: this.series });
    store.put(appliance, ownKeys.counters, counters.reading());
    store.put(appliance, ownKeys.gauges, fillRegistry(appliance, writeReading(ownGauges, numbers, { compact: false })));
  }

  /** Evicts stale readings and refreshes the rest: afterwards the store has what is true now. */
  expire(jobs: ReadonlyMap<string, Job>): void {
    for (const loser of this.#parts.readingStore.expire(this.#parts.age())) {
      this.#isBehind = true;
      const job = jobs.get(loser);
      if (!job) continue;
      // However far its schedule is stretched, it is read again as soon as the appliance answers.
      job.missed = true;
      this.withoutReading(job);
    }
    this.refresh();
  }
}
