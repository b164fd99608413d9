import { isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { fillRegistry } from '../metrics/render.ts';
import { type CollectorStatistics, ownGauges } from './collector-statistics.ts';
import type { Job } from './job.ts';
import type { SharedParts } from './poller-parts.ts';
import type { ReadingStore } from './reading-store.ts';

export interface ExpositionParts extends Pick<SharedParts, 'name' | 'store' | 'counters' | 'breaker' | 'jobs'> {
  readonly state: Pick<SharedParts['state'], 'age'>;
  readonly statistics: CollectorStatistics;
  readonly readings: ReadingStore;
}

/** Keys of the exporter's own numbers in the store. */
const ownKeys = { gauges: 'exporter', counters: 'exporter counters' } as const;

/**
 * Puts into the metrics store what is no reading: the exporter's own numbers, and what a collector
 * shows without a reading. Evicts stale readings.
 */
export class Exposition {
  readonly #parts: ExpositionParts;
  #shown = '';
  #isBehind = false;

  constructor(parts: ExpositionParts) {
    this.#parts = parts;
  }

  /** Returns the number of series of the appliance without the exporter's own. */
  get series(): number {
    return this.#parts.store.series(this.#parts.name, Object.values(ownKeys));
  }

  /** Marks the statistics or counters as changed, for the next refresh. */
  invalidate(): void {
    this.#isBehind = true;
  }

  /** Shows what a collector says without a reading, if it has no reading and says anything. */
  withoutReading({ collector }: Job): void {
    const { name, store, readings } = this.#parts;
    if (isFarmCollector(collector) || collector.withoutReading === undefined || readings.has(collector.name)) return;
    const write = writeReading(collector.families, collector.withoutReading, { compact: false });
    store.put(name, collector.name, fillRegistry(name, write));
  }

  /**
   * Refreshes `zlb_up` and the state of the breaker if they changed, so that fresh samples never
   * appear next to `zlb_up 0`, and all that was invalidated.
   */
  refresh(): void {
    const { name, store, statistics, counters, breaker, state } = this.#parts;
    const ageMs = state.age();
    // A probe changes them without a run.
    const shown = `${statistics.isUp(ageMs)} ${breaker.state}`;
    if (!this.#isBehind && shown === this.#shown) return;
    this.#isBehind = false;
    this.#shown = shown;
    const numbers = statistics.numbers(ageMs, { breaker: breaker.state, series: this.series });
    store.put(name, ownKeys.counters, counters.reading());
    store.put(name, ownKeys.gauges, fillRegistry(name, writeReading(ownGauges, numbers, { compact: false })));
  }

  /** Evicts stale readings and refreshes the rest: afterwards the store has what is true now. */
  expire(): void {
    const { readings, jobs, state } = this.#parts;
    for (const loser of readings.expire(state.age())) {
      this.#isBehind = true;
      const job = jobs.get(loser);
      if (!job) continue;
      // However late its next turn, it runs as soon as the breaker closes again.
      job.missed = true;
      this.withoutReading(job);
    }
    this.refresh();
  }
}
