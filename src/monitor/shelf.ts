import { fillRegistry } from '../metrics/render.ts';
import type { Emit } from '../metrics/samples.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { keyOf, type Origin } from './origin.ts';
import type { Reading } from './snapshot.ts';
import {
  type Allotment,
  allot,
  minus,
  plus,
  type Sizes,
  sizesOf,
  totalSeries,
  type Wish,
  wishesOf,
} from './series-limit.ts';

/** The newest readings of one appliance, withheld once they are too old. */
export interface Shelf {
  /** True for a reading that was asked for before the one that is there. */
  isOvertaken(origin: Origin, takenAtMs: number): boolean;
  put(origin: Origin, reading: ShelvedReading): void;
  remove(origin: Origin): void;
  /** Removes all that a collector has, and what it says without a reading. */
  clear(collector: string): void;
  has(collector: string): boolean;
  /** What is not stale at `ageMs`, evicted already or not, with the collectors of which something is stale. */
  at(ageMs: number): FreshReadings;
  /** Moves with each change of the readings. */
  readonly version: number;
  /** Removes what is past its time at `ageMs`; returns the collectors that lost something. */
  expire(ageMs: number): ReadonlySet<string>;
}

export interface FreshReadings {
  readonly readings: ReadonlyMap<string, Reading>;
  readonly stale: ReadonlySet<string>;
  /** Series of them that the limit leaves out. */
  readonly leftOut: number;
  /** The age at which the first of them may be stale. */
  readonly untilMs: number;
}

export interface ShelvedReading extends Omit<Reading, keyof Origin> {
  readonly write: (emit: Emit) => void;
  /** On the clock of lib/age-clock.ts. */
  readonly takenAtMs: number;
  /** For so long the samples may be shown whatever happens. */
  readonly maxStaleMs: number;
  /** For so long a stretched interval promised to show them, 0 where it is `max_stale` that counts; what comes of that is for `outlives` to say. */
  readonly promisedMs: number;
}

export interface ShelfOptions {
  readonly appliance: string;
  /** What is there already. */
  readonly held: Held;
  /** What was withheld for its age; nothing without it. */
  readonly withheld?: Withheld | undefined;
  readonly store: MetricsStore;
  readonly maxSeries: number;
  /** Above the limit, whose series have their turn first: the least. */
  readonly precedence: (collector: string) => number;
  /** Whether a reading may be shown past its `max_stale`. */
  readonly outlives: (reading: HeldReading, ageMs: number) => boolean;
  readonly onDropped: (reason: DropReason, series: number) => void;
  /** A state word outside its closed list, shown as `unknown`. */
  readonly onUnknownState: (family: string, word: string) => void;
}

export const dropReasons = ['limit', 'duplicate'] as const;

export type DropReason = (typeof dropReasons)[number];

/** What stands on the page, by {@link keyOf}. */
export type Held = Map<string, HeldReading>;

export interface HeldReading extends Origin, Omit<ShelvedReading, 'write'> {
  /** All that the reading had, also what is not shown. */
  readonly wishes: readonly Wish[];
  readonly sizes: Sizes;
  /** Series of these that give way to the limit. */
  readonly leftOut: number;
}

/** Readings that were taken off the page for their age and are not there again, by {@link keyOf}. */
export type Withheld = Map<string, Origin>;

/** Hands the samples of each reading to the store, as far as the limit of series allows. */
export function createShelf({
  appliance,
  held,
  withheld = new Map(),
  store,
  maxSeries,
  precedence,
  outlives,
  onDropped,
  onUnknownState,
}: ShelfOptions): Shelf {
  /** Earliest moment at which something expires, so that a scrape need not look at everything. */
  let nextExpiryMs = Math.min(...[...held.values()].map(freshUntilMs));
  let version = 0;
  /** Of all readings. There may be thousands, and the limit is looked at for each that is put. */
  let demand = [...held.values()].map(({ sizes }) => sizes).reduce(plus, sizesOf([]));

  function demandOf(key: string): Sizes {
    return held.get(key)?.sizes ?? sizesOf([]);
  }

  function remove(key: string): void {
    demand = minus(demand, demandOf(key));
    held.delete(key);
    forgive(key);
    store.remove(appliance, key);
    version += 1;
  }

  function isStale(reading: HeldReading, ageMs: number): boolean {
    return freshUntilMs(reading) <= ageMs && !outlives(reading, ageMs);
  }

  function forgive(key: string): void {
    withheld.delete(key);
  }

  /** Takes off the page what has to give way to what another part shows now. */
  function takeBack(allotted: Allotment, exceptKey: string): void {
    if (allotted.allowsAll) return;
    for (const [key, reading] of held) {
      if (key === exceptKey) continue;
      const refused = store.restrict(appliance, key, (family) => allotted.allows(key, family));
      if (refused === 0) continue;
      onDropped('limit', refused);
      held.set(key, within(allotted, key, reading));
    }
  }

  return {
    isOvertaken: (origin, takenAtMs) => (held.get(keyOf(origin))?.takenAtMs ?? Number.NEGATIVE_INFINITY) > takenAtMs,
    put(origin, { write, ...shown }) {
      const key = keyOf(origin);
      const before = held.get(key);
      const { registry, families, duplicates, unknownStates } = fillRegistry(appliance, write);
      const wishes = wishesOf(families, before?.wishes);
      const reading = {
        ...origin,
        ...shown,
        wishes,
        sizes: wishes === before?.wishes ? before.sizes : sizesOf(wishes),
        leftOut: 0,
      };
      demand = plus(minus(demand, demandOf(key)), reading.sizes);
      held.set(key, reading);
      forgive(key);
      version += 1;
      const allotted = allot(held, demand, maxSeries, ({ collector }) => precedence(collector));
      held.set(key, within(allotted, key, reading));
      takeBack(allotted, key);
      const allowed = families.filter(({ family }) => allotted.allows(key, family));
      store.put(appliance, key, { registry, families: allowed });
      nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs(reading));

      const beyond = totalSeries(families) - totalSeries(allowed);
      if (beyond > 0) onDropped('limit', beyond);
      if (duplicates > 0) onDropped('duplicate', duplicates);
      for (const { family, word } of unknownStates) onUnknownState(family.name, word);
    },
    remove: (origin) => remove(keyOf(origin)),
    clear(collector) {
      for (const [key, origin] of [...held, ...withheld]) if (origin.collector === collector) remove(key);
      store.remove(appliance, keyOf({ collector }));
    },
    has: (collector) => held.has(keyOf({ collector })),
    at(ageMs) {
      const readings = new Map<string, Reading>();
      const stale = new Set([...withheld.values()].map(({ collector }) => collector));
      let leftOut = 0;
      let untilMs = Number.POSITIVE_INFINITY;
      for (const [key, reading] of held) {
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
      const losers = new Set<string>();
      if (ageMs < nextExpiryMs) return losers;
      nextExpiryMs = Number.POSITIVE_INFINITY;
      for (const [key, reading] of held) {
        if (!isStale(reading, ageMs)) {
          nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs(reading));
          continue;
        }
        remove(key);
        const { collector, farm } = reading;
        withheld.set(key, farm === undefined ? { collector } : { collector, farm });
        losers.add(collector);
      }
      return losers;
    },
  };
}

/** The reading with what it loses to the limit. */
function within(allotted: Allotment, key: string, reading: HeldReading): HeldReading {
  const refused = reading.wishes.filter(({ family }) => !allotted.allows(key, family));
  return { ...reading, leftOut: totalSeries(refused) };
}

function freshUntilMs({ takenAtMs, maxStaleMs }: Pick<ShelvedReading, 'takenAtMs' | 'maxStaleMs'>): number {
  return takenAtMs + maxStaleMs;
}
