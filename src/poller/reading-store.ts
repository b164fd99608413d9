import { type FamilySize, fillRegistry, type FillResult, totalSeries } from '../metrics/render.ts';
import type { Emit } from '../metrics/family.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { DropReason } from './counters.ts';
import { keyOf, type Origin, type Reading } from '../status/reading.ts';
import { divideLimit, type Quota } from './series-limit.ts';

export interface NewReading extends Omit<Reading, keyof Origin> {
  readonly write: (emit: Emit) => void;
  /** The time of the reading, on the clock of lib/time.ts. */
  readonly takenAtMs: number;
  /** Age up to which the reading is shown in any case. */
  readonly maxStaleMs: number;
  /**
   * Extended lifetime in ms when runs come later than `max_stale`; 0 otherwise.
   * `isExtended` decides.
   */
  readonly extendedMs: number;
}

export interface StoredReading extends Origin, Omit<NewReading, 'write'> {
  /** Series of the reading by family, also of families that the limit leaves out. */
  readonly families: readonly FamilySize[];
  /** Series of these that the limit leaves out. */
  readonly leftOut: number;
}

/** Readings by {@link keyOf}. */
export type StoredReadings = Map<string, StoredReading>;

/** Origins of readings that were evicted and not read again, by {@link keyOf}. */
export type EvictedReadings = Map<string, Origin>;

/** The readings that are not stale at one moment. */
export interface FreshReadings {
  readonly readings: ReadonlyMap<string, Reading>;
  /** Collectors with a stale reading. */
  readonly stale: ReadonlySet<string>;
  /** Series of the readings that the limit leaves out of `/metrics`. */
  readonly leftOut: number;
  /** The age at which the first of the readings may become stale. */
  readonly untilMs: number;
}

export interface ReadingStoreParts {
  readonly appliance: string;
  /** Readings of the poller before. */
  readonly stored: StoredReadings;
  /** Readings that the poller before evicted. */
  readonly evicted: EvictedReadings;
  readonly store: MetricsStore;
  readonly maxSeries: number;
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
  /**
   * The earliest age at which a reading may be stale, so that a scrape need not check all of them.
   */
  #nextExpiryMs: number;
  /**
   * The sum over all readings, kept up to date: there may be thousands, and each put compares it
   * with the limit.
   */
  readonly #demand = { details: 0, others: 0 };
  #version = 0;

  constructor(parts: ReadingStoreParts) {
    this.#parts = parts;
    this.#stored = parts.stored;
    this.#evicted = parts.evicted;
    this.#nextExpiryMs = Math.min(...[...parts.stored.values()].map(freshUntilMs));
    for (const reading of parts.stored.values()) this.#count(reading, 1);
  }

  /** Changes with each change of the readings. */
  get version(): number {
    return this.#version;
  }

  /** Returns true for a reading that was asked for before the stored one. */
  isOvertaken(origin: Origin, takenAtMs: number): boolean {
    return (this.#stored.get(keyOf(origin))?.takenAtMs ?? Number.NEGATIVE_INFINITY) > takenAtMs;
  }

  /** Returns the data of a reading; undefined for one that is not stored. */
  newest(origin: Origin): unknown {
    return this.#stored.get(keyOf(origin))?.data;
  }

  has(collector: string): boolean {
    return this.#stored.has(keyOf({ collector }));
  }

  put(origin: Origin, { write, ...shown }: NewReading): void {
    const key = keyOf(origin);
    const filled = fillRegistry(this.#parts.appliance, write);
    const reading = { ...origin, ...shown, families: filled.families, leftOut: 0 };
    this.#count(this.#stored.get(key), -1);
    this.#count(reading, 1);
    this.#stored.set(key, reading);
    this.#evicted.delete(key);
    this.#version += 1;
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, freshUntilMs(reading));
    this.#show(key, reading, filled);
  }

  remove(origin: Origin): void {
    this.#remove(keyOf(origin));
  }

  /** Removes all readings of a collector, and what it shows without a reading. */
  clear(collector: string): void {
    for (const [key, origin] of [...this.#stored, ...this.#evicted])
      if (origin.collector === collector) this.#remove(key);
    this.#parts.store.remove(this.#parts.appliance, keyOf({ collector }));
  }

  /** Returns the readings that are not stale at `ageMs`; a stale one may not be evicted yet. */
  at(ageMs: number): FreshReadings {
    const readings = new Map<string, Reading>();
    const stale = new Set([...this.#evicted.values()].map(({ collector }) => collector));
    let leftOut = 0;
    let untilMs = Number.POSITIVE_INFINITY;
    for (const [key, reading] of this.#stored) {
      if (this.#isStale(reading, ageMs)) {
        stale.add(reading.collector);
        continue;
      }
      readings.set(key, reading);
      leftOut += reading.leftOut;
      untilMs = Math.min(untilMs, freshUntilMs(reading));
    }
    return { readings, stale, leftOut, untilMs };
  }

  /** Evicts what is stale at `ageMs`; returns the collectors that lost a reading. */
  expire(ageMs: number): ReadonlySet<string> {
    const affected = new Set<string>();
    if (ageMs < this.#nextExpiryMs) return affected;
    this.#nextExpiryMs = Number.POSITIVE_INFINITY;
    for (const [key, reading] of this.#stored) {
      if (!this.#isStale(reading, ageMs)) {
        this.#nextExpiryMs = Math.min(this.#nextExpiryMs, freshUntilMs(reading));
        continue;
      }
      this.#remove(key);
      const { collector, farm } = reading;
      this.#evicted.set(key, { collector, farm });
      affected.add(collector);
    }
    return affected;
  }

  /**
   * Puts the families that the limit allows into the metrics store, and removes those of others
   * that no longer fit.
   */
  #show(key: string, reading: StoredReading, { registry, families, duplicates, unknownStates }: FillResult): void {
    const { appliance, store, maxSeries, priority, onDropped, onUnknownState } = this.#parts;
    const quota = divideLimit(this.#stored, this.#demand, maxSeries, ({ collector }) => priority(collector));
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
    this.#count(this.#stored.get(key), -1);
    this.#stored.delete(key);
    this.#evicted.delete(key);
    this.#parts.store.remove(this.#parts.appliance, key);
    this.#version += 1;
  }

  /** Adds the series of a reading to the demand, or takes them off. */
  #count(reading: StoredReading | undefined, sign: 1 | -1): void {
    for (const { family, series } of reading?.families ?? [])
      this.#demand[family.isDetail ? 'details' : 'others'] += sign * series;
  }

  #isStale(reading: StoredReading, ageMs: number): boolean {
    return freshUntilMs(reading) <= ageMs && !this.#parts.isExtended(reading, ageMs);
  }
}

/** Returns the reading with the number of series that it loses to the limit. */
function within(quota: Quota, key: string, reading: StoredReading): StoredReading {
  const refused = reading.families.filter(({ family }) => !quota.allows(key, family));
  return { ...reading, leftOut: totalSeries(refused) };
}

function freshUntilMs({ takenAtMs, maxStaleMs }: Pick<NewReading, 'takenAtMs' | 'maxStaleMs'>): number {
  return takenAtMs + maxStaleMs;
}
