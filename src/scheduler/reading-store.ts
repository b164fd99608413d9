import { ApplianceError } from '../appliance/errors.ts';
import { type Collector, isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { type FamilySize, fillRegistry, type FillResult, totalSeries } from '../metrics/render.ts';
import type { Emit } from '../metrics/family.ts';
import { sizeOf } from '../lib/size.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { DropReason } from './counters.ts';
import { keyOf, type Origin, type Reading } from '../state/reading.ts';
import { divideLimit, type Quota } from './series-limit.ts';

export interface NewReading extends Omit<Reading, keyof Origin> {
  readonly write: (emit: Emit) => void;
  /** Age up to which the reading is shown in any case. */
  readonly maxStaleMs: number;
  /**
   * Extended lifetime in ms when runs come later than `max_stale`; 0 otherwise.
   * `isExtended` decides.
   */
  readonly extendedMs: number;
  /** The result of `admit`. */
  readonly bytes: number;
}

export interface StoredReading extends Origin, Omit<NewReading, 'write'> {
  /** Series of the reading by family, also of families that the limit leaves out. */
  readonly families: readonly FamilySize[];
  /** Series of these that the limit leaves out. */
  readonly leftOut: number;
}

/** All readings of an appliance together are as long as so many of its longest replies. */
export const keptReplies = 4;

/** Readings by {@link keyOf}. */
export type StoredReadings = Map<string, StoredReading>;

/** Origins of readings that were evicted and not read again, by {@link keyOf}. */
export type EvictedReadings = Map<string, Origin>;

export interface ReadingStoreParts {
  readonly appliance: string;
  /** Readings of the poller before. */
  readonly stored: StoredReadings;
  /** Readings that the poller before evicted. */
  readonly evicted: EvictedReadings;
  readonly store: MetricsStore;
  readonly maxSeries: number;
  /** Limit of all readings together, as they are in memory. */
  readonly maxBytes: number;
  /** The lower, the earlier a collector gets its series when the limit does not suffice for all. */
  readonly priority: (collector: string) => number;
  /** True for a reading that may be shown past its `max_stale`. */
  readonly isExtended: (reading: StoredReading, ageMs: number) => boolean;
  readonly onDropped: (reason: DropReason, series: number) => void;
  /** Called for a state word outside its closed list, which is shown as `unknown`. */
  readonly onUnknownState: (family: string, word: string) => void;
}

/**
 * Stores the newest readings of one appliance, and evicts them once they are stale. Puts the
 * samples of each reading into the metrics store, as far as the series limit allows.
 */
export class ReadingStore {
  readonly #parts: ReadingStoreParts;
  readonly #stored: StoredReadings;
  readonly #evicted: EvictedReadings;

  constructor(parts: ReadingStoreParts) {
    this.#parts = parts;
    this.#stored = parts.stored;
    this.#evicted = parts.evicted;
  }

  /** Returns what is stored, by {@link keyOf}; all of it is fresh after `expire`. */
  get all(): ReadonlyMap<string, StoredReading> {
    return this.#stored;
  }

  /** Returns the collectors with a reading that was evicted. */
  get staleCollectors(): ReadonlySet<string> {
    return new Set([...this.#evicted.values()].map(({ collector }) => collector));
  }

  /** Returns true for a reading that was asked for before the stored one. */
  isOvertaken(origin: Origin, takenAtMs: number): boolean {
    return (this.#stored.get(keyOf(origin))?.takenAtMs ?? Number.NEGATIVE_INFINITY) > takenAtMs;
  }

  /** Returns the bytes of a reading; throws if it is too long beside the others. */
  admit(origin: Origin, data: unknown): number {
    const { maxBytes } = this.#parts;
    const key = keyOf(origin);
    const bytes = sizeOf(data);
    let all = bytes;
    for (const [other, reading] of this.#stored) if (other !== key) all += reading.bytes;
    if (all <= maxBytes) return bytes;
    const message = `all that is known of the appliance would take more than ${maxBytes} bytes; leave farms out with farms.exclude, or raise limits.body_bytes, of which it is ${keptReplies} times`;
    throw new ApplianceError('oversize', { endpoint: origin.collector, message });
  }

  put(origin: Origin, { write, ...shown }: NewReading): void {
    const key = keyOf(origin);
    const filled = fillRegistry(this.#parts.appliance, write);
    const reading = { ...origin, ...shown, families: filled.families, leftOut: 0 };
    this.#stored.set(key, reading);
    this.#evicted.delete(key);
    this.#show(key, reading, filled);
  }

  remove(origin: Origin): void {
    this.#remove(keyOf(origin));
  }

  /** Shows what a collector says without a reading, if it has no reading and says anything. */
  showWithoutReading(collector: Collector): void {
    const { appliance, store } = this.#parts;
    const { name, families } = collector;
    if (isFarmCollector(collector) || collector.withoutReading === undefined || this.#stored.has(name)) return;
    const write = writeReading(families, collector.withoutReading, { compact: false });
    store.put(appliance, name, fillRegistry(appliance, write));
  }

  /** Evicts what is stale at `ageMs`; returns it. */
  expire(ageMs: number): readonly StoredReading[] {
    const evicted: StoredReading[] = [];
    for (const [key, reading] of this.#stored) {
      const { takenAtMs, maxStaleMs } = reading;
      if (ageMs < takenAtMs + maxStaleMs || this.#parts.isExtended(reading, ageMs)) continue;
      this.#remove(key);
      const { collector, farm } = reading;
      this.#evicted.set(key, { collector, farm });
      evicted.push(reading);
    }
    return evicted;
  }

  /**
   * Puts the families that the limit allows into the metrics store, and removes those of others
   * that no longer fit.
   */
  #show(key: string, reading: StoredReading, { registry, families, duplicates, unknownStates }: FillResult): void {
    const { appliance, store, maxSeries, priority, onDropped, onUnknownState } = this.#parts;
    const quota = divideLimit(this.#stored, maxSeries, ({ collector }) => priority(collector));
    this.#stored.set(key, within(quota, key, reading));
    this.#removeAboveQuota(quota, key);
    const allowed = families.filter(({ family }) => quota.allows(key, family));
    store.put(appliance, key, { registry, families: allowed });

    const beyond = totalSeries(families) - totalSeries(allowed);
    if (beyond > 0) onDropped('limit', beyond);
    if (duplicates > 0) onDropped('duplicate', duplicates);
    for (const { family, word } of unknownStates) onUnknownState(family.name, word);
  }

  /** Removes families of other readings that no longer fit beside the new one. */
  #removeAboveQuota(quota: Quota, exceptKey: string): void {
    const { appliance, store, onDropped } = this.#parts;
    if (quota.allowsAll) return;
    for (const [key, reading] of this.#stored) {
      if (key === exceptKey) continue;
      const refused = store.restrict(appliance, key, (family) => quota.allows(key, family));
      if (refused === 0) continue;
      onDropped('limit', refused);
      this.#stored.set(key, within(quota, key, reading));
    }
  }

  #remove(key: string): void {
    this.#stored.delete(key);
    this.#evicted.delete(key);
    this.#parts.store.remove(this.#parts.appliance, key);
  }
}

/** Returns the reading with the number of series that it loses to the limit. */
function within(quota: Quota, key: string, reading: StoredReading): StoredReading {
  const refused = reading.families.filter(({ family }) => !quota.allows(key, family));
  return { ...reading, leftOut: totalSeries(refused) };
}
