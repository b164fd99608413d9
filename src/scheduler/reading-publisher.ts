import { collectors } from '../collectors/registry.ts';
import { type Collector, isPerFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { fillRegistry } from '../metrics/render.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { StateListener } from '../state/appliance-state.ts';
import { type NewReading, readingKey, type Origin } from '../state/reading.ts';
import type { Counters } from './counters.ts';
import type { Job } from './job.ts';
import type { ReadingLog } from './reading-log.ts';

export interface ReadingPublisherParts {
  readonly name: string;
  readonly jobs: ReadonlyMap<string, Pick<Job, 'collector' | 'rank'>>;
  readonly store: MetricsStore;
  readonly maxSeries: number;
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
  readonly counters: Pick<Counters, 'countDropped'>;
  readonly readingLog: Pick<ReadingLog, 'logDropped' | 'logUnknownState'>;
}

/** Publishes the readings of an appliance in `/metrics`, up to the series limit. */
export class ReadingPublisher implements StateListener {
  readonly #parts: ReadingPublisherParts;

  constructor(parts: ReadingPublisherParts) {
    this.#parts = parts;
    // A collector that is off now may have shown something without a reading.
    for (const { name } of collectors) if (!parts.jobs.has(name)) parts.store.remove(parts.name, name);
  }

  onReading({ collector, farm, data }: NewReading): void {
    const { compact, counters, readingLog } = this.#parts;
    const { leftOut, duplicates, unknownStates } = this.#show(collector, farm, data, compact);
    for (const [reason, series] of [
      ['limit', leftOut],
      ['duplicate', duplicates],
    ] as const) {
      if (series === 0) continue;
      counters.countDropped(reason, series);
      readingLog.logDropped(reason, series);
    }
    for (const { family, word } of unknownStates) readingLog.logUnknownState(family.name, word);
  }

  onRemoved(origin: Origin, why: 'stale' | 'gone'): void {
    this.#parts.store.remove(this.#parts.name, readingKey(origin));
    const job = this.#parts.jobs.get(origin.collector);
    if (job && why === 'stale') this.showWithoutReading(job.collector);
  }

  /** Shows what a collector says while it has no reading, if it says anything. */
  showWithoutReading(collector: Collector): void {
    if (isPerFarmCollector(collector) || collector.withoutReading === undefined) return;
    this.#show(collector, undefined, collector.withoutReading, false);
  }

  #show(collector: Collector, farm: string | undefined, data: unknown, compact: boolean) {
    const { name, jobs, store, maxSeries } = this.#parts;
    const filled = fillRegistry(name, writeReading(collector.families, data, { compact }));
    const rank = jobs.get(collector.name)?.rank ?? jobs.size;
    const leftOut = store.put(name, readingKey({ collector: collector.name, farm }), filled, { rank, maxSeries });
    return { ...filled, leftOut };
  }
}
