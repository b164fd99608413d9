import { fillRegistry } from '../metrics/render.ts';
import type { Emit } from '../metrics/samples.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { keyOf, type Origin } from './origin.ts';
import type { Reading } from './snapshot.ts';
import {
  type Quota,
  divideLimit,
  minus,
  plus,
  type Sizes,
  sizesOf,
  totalSeries,
  type SeriesRequest,
  requestsOf,
} from './series-limit.ts';

/** Stores the newest readings of one appliance, and evicts them once they are stale. */
export interface ReadingStore {
  /** True for a reading that was asked for before the stored one. */
  isOvertaken(origin: Origin, takenAtMs: number): boolean;
  put(origin: Origin, reading: NewReading): void;
  remove(origin: Origin): void;
  /** Removes all readings of a collector, and what it shows without a reading. */
  clear(collector: string): void;
  has(collector: string): boolean;
  /** Returns the readings that are not stale at `ageMs`; a stale one may not be evicted yet. */
  at(ageMs: number): FreshReadings;
  /** Changes with each change of the readings. */
  readonly version: number;
  /** Evicts what is stale at `ageMs`; returns the collectors that lost a reading. */
  expire(ageMs: number): ReadonlySet<string>;
}

export interface FreshReadings {
  readonly readings: ReadonlyMap<string, Reading>;
  /** Collectors with a stale reading. */
  readonly stale: ReadonlySet<string>;
  /** Series of the readings that the limit leaves out of `/metrics`. */
  readonly leftOut: number;
  /** The age at which the first of the readings may become stale. */
  readonly untilMs: number;
}

export interface NewReading extends Omit<Reading, keyof Origin> {
  readonly write: (emit: Emit) => void;
  /** On the clock of lib/age-clock.ts. */
  readonly takenAtMs: number;
  /** Age up to which the reading is shown in any case. */
  readonly maxStaleMs: number;
  /** Extended lifetime in ms when the interval is stretched beyond `max_stale`; 0 otherwise. `isExtended` decides. */
  readonly extendedMs: number;
}

export interface ReadingStoreOptions {
  readonly appliance: string;
  /** Readings of the poller before. */
  readonly stored: StoredReadings;
  /** Readings that the poller before evicted. */
  readonly evicted?: EvictedReadings | undefined;
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

export const dropReasons = ['limit', 'duplicate'] as const;

export type DropReason = (typeof dropReasons)[number];

/** Readings by {@link keyOf}. */
export type StoredReadings = Map<string, StoredReading>;

export interface StoredReading extends Origin, Omit<NewReading, 'write'> {
  /** Series of the reading by family, also of families that the limit leaves out. */
  readonly requests: readonly SeriesRequest[];
  readonly sizes: Sizes;
  /** Series of these that the limit leaves out. */
  readonly leftOut: number;
}

/** Origins of readings that were evicted and not read again, by {@link keyOf}. */
export type EvictedReadings = Map<string, Origin>;

/** Puts the samples of each reading into the metrics store, as far as the series limit allows. */
export function createReadingStore({
  appliance,
  stored,
  evicted = new Map(),
  store,
  maxSeries,
  priority,
  isExtended,
  onDropped,
  onUnknownState,
}: ReadingStoreOptions): ReadingStore {
  /** The earliest age at which a reading may be stale, so that a scrape need not look at all of them. */
  let nextExpiryMs = Math.min(...[...stored.values()].map(freshUntilMs));
  let version = 0;
  /** Sum over all readings, kept up to date: there may be thousands, and each put compares it with the limit. */
  let demand = [...stored.values()].map(({ sizes }) => sizes).reduce(plus, sizesOf([]));

  function demandOf(key: string): Sizes {
    return stored.get(key)?.sizes ?? sizesOf([]);
  }

  function remove(key: string): void {
    demand = minus(demand, demandOf(key));
    stored.delete(key);
    evicted.delete(key);
    store.remove(appliance, key);
    version += 1;
  }

  function isStale(reading: StoredReading, ageMs: number): boolean {
    return freshUntilMs(reading) <= ageMs && !isExtended(reading, ageMs);
  }

  /** Removes families of other readings that no longer fit beside the new one. */
  function removeAboveQuota(quota: Quota, exceptKey: string): void {
    if (quota.allowsAll) return;
    for (const [key, reading] of stored) {
      if (key === exceptKey) continue;
      const refused = store.restrict(appliance, key, (family) => quota.allows(key, family));
      if (refused === 0) continue;
      onDropped('limit', refused);
      stored.set(key, within(quota, key, reading));
    }
  }

  return {
    isOvertaken: (origin, takenAtMs) => (stored.get(keyOf(origin))?.takenAtMs ?? Number.NEGATIVE_INFINITY) > takenAtMs,
    put(origin, { write, ...shown }) {
      const key = keyOf(origin);
      const before = stored.get(key);
      const { registry, families, duplicates, unknownStates } = fillRegistry(appliance, write);
      const requests = requestsOf(families, before?.requests);
      const reading = {
        ...origin,
        ...shown,
        requests,
        sizes: requests === before?.requests ? before.sizes : sizesOf(requests),
        leftOut: 0,
      };
      demand = plus(minus(demand, demandOf(key)), reading.sizes);
      stored.set(key, reading);
      evicted.delete(key);
      version += 1;
      const quota = divideLimit(stored, demand, maxSeries, ({ collector }) => priority(collector));
      stored.set(key, within(quota, key, reading));
      removeAboveQuota(quota, key);
      const allowed = families.filter(({ family }) => quota.allows(key, family));
      store.put(appliance, key, { registry, families: allowed });
      nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs(reading));

      const beyond = totalSeries(families) - totalSeries(allowed);
      if (beyond > 0) onDropped('limit', beyond);
      if (duplicates > 0) onDropped('duplicate', duplicates);
      for (const { family, word } of unknownStates) onUnknownState(family.name, word);
    },
    remove: (origin) => remove(keyOf(origin)),
    clear(collector) {
      for (const [key, origin] of [...stored, ...evicted]) if (origin.collector === collector) remove(key);
      store.remove(appliance, keyOf({ collector }));
    },
    has: (collector) => stored.has(keyOf({ collector })),
    at(ageMs) {
      const readings = new Map<string, Reading>();
      const stale = new Set([...evicted.values()].map(({ collector }) => collector));
      let leftOut = 0;
      let untilMs = Number.POSITIVE_INFINITY;
      for (const [key, reading] of stored) {
        if (isStale(reading, ageMs)) {
          stale.add(reading.collector);
          continue;
        }
        readings.set(key, reading);
        leftOut += reading.leftOut;
        untilMs = Math.min(untilMs, freshUntilMs(reading));
      }
      return { readings, stale, leftOut, untilMs };
    },
    get version() {
      return version;
    },
    expire(ageMs) {
      const affected = new Set<string>();
      if (ageMs < nextExpiryMs) return affected;
      nextExpiryMs = Number.POSITIVE_INFINITY;
      for (const [key, reading] of stored) {
        if (!isStale(reading, ageMs)) {
          nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs(reading));
          continue;
        }
        remove(key);
        const { collector, farm } = reading;
        evicted.set(key, farm === undefined ? { collector } : { collector, farm });
        affected.add(collector);
      }
      return affected;
    },
  };
}

/** Returns the reading with the number of series that it loses to the limit. */
function within(quota: Quota, key: string, reading: StoredReading): StoredReading {
  const refused = reading.requests.filter(({ family }) => !quota.allows(key, family));
  return { ...reading, leftOut: totalSeries(refused) };
}

function freshUntilMs({ takenAtMs, maxStaleMs }: Pick<NewReading, 'takenAtMs' | 'maxStaleMs'>): number {
  return takenAtMs + maxStaleMs;
}
