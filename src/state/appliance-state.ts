// Keeps what is known of one appliance: the newest reading of each collector, its age, and the
// states of objects. The poller alone puts readings, and the fleet removes what is stale. Listeners
// (metrics, history, twins) hear of each change in the order in which it was made. Nothing here is
// asynchronous. Read on in reading.ts, freshness.ts, describe.ts (the status of an appliance) and
// farm-problems.ts.

import { ApplianceError, type FailureReason } from '../appliance/errors.ts';
import { applianceFacts, dataOf } from '../collectors/appliance-facts.ts';
import { type ApplianceCollector, type Collector, type Facts, isFarmCollector } from '../collectors/collector.ts';
import { sizeOf } from '../lib/size.ts';
import { createElapsedClock, steadyNow } from '../lib/time.ts';
import { compareStates, type ObjectStates, sinceOf } from './object-states.ts';
import { keyOf, type Moment, type Origin, type Reading, readingIn } from './reading.ts';
import type { Transition } from './status.ts';

/** All readings of an appliance together are as long as so many of its longest replies. */
export const keptReplies = 4;

/** How long a reading is shown; scheduler/lateness.ts has the rule. */
export interface ReadingLife {
  /** The age up to which it is shown in any case. */
  readonly maxStaleMs: number;
  /** The age up to which it may be shown while the appliance answers, as runs came at that time. */
  readonly lifeMs: number;
}

export interface FoundReading extends ReadingLife {
  readonly collector: Collector;
  readonly farm?: string | undefined;
  readonly data: unknown;
  /** When it was asked for, on the elapsed clock. */
  readonly takenAtMs: number;
  /** False where a value or a row of its replies could not be read. */
  readonly isWhole: boolean;
}

interface KeptReading extends Reading, ReadingLife {
  readonly bytes: number;
}

/** Differences on the appliance that a reading shows; the scheduler acts on them. */
export interface StateChanges {
  /** Farms whose state is another one, and the new ones. */
  readonly farms: readonly string[];
  /** Farms that are new, also one that was made again with another profile. */
  readonly newFarms: readonly string[];
  readonly version?: { readonly from: string; readonly to: string | undefined } | undefined;
  /** True if the appliance no longer refuses everything because its licence is missing. */
  readonly isLicensedAgain?: boolean;
}

/** Hears of each change; listeners do not know each other. */
export interface StateListener {
  /** A reading is newer than the one before, and shows these changes of state. */
  onReading?(reading: FoundReading, transitions: readonly Transition[], moment: Moment): void;
  /** A reading is too old, or its farm is gone, or the settings leave it out. */
  onRemoved?(origin: Origin, why: 'stale' | 'gone'): void;
  /** The appliance answers again, or no more; then `because` has the reason. */
  onAnswering?(isUp: boolean, because: FailureReason | undefined): void;
}

export interface ApplianceStateParts {
  readonly appliance: string;
  /** Enabled collectors with their `max_stale`, by name. */
  readonly collectors: ReadonlyMap<string, { readonly maxStaleMs: number }>;
  readonly watches: (farm: string) => boolean;
  /** Limit of all readings together, as they are in memory. */
  readonly maxBytes: number;
  readonly listeners: readonly StateListener[];
  readonly now: () => number;
  readonly before?: ApplianceState | undefined;
}

const noChanges: StateChanges = { farms: [], newFarms: [] };

/**
 * Holds all knowledge of one appliance: its readings until they are stale, the facts that its
 * collectors learn from each other, and the states of its objects. Only the scheduler writes.
 */
export class ApplianceState {
  /** Reads the elapsed clock of the appliance in milliseconds, see lib/time.ts. */
  readonly elapsedNow: () => number;
  readonly #parts: ApplianceStateParts;
  /** By {@link keyOf}, as the next three. */
  readonly #readings: Map<string, KeptReading>;
  /** Readings that were too old, and not read again. */
  readonly #stale: Map<string, Origin>;
  /** Stale readings that fit beside the others: what was known last. */
  readonly #lastKnown: Map<string, KeptReading>;
  readonly #objects: Map<string, ObjectStates>;
  /** The newest data of the collectors that read the whole appliance, by name, however old. */
  readonly #latest: Map<string, unknown>;
  #facts: Facts;

  /**
   * Continues the state before, without what the new settings leave out: nobody would read it
   * again.
   */
  constructor(parts: ApplianceStateParts) {
    const { before, collectors, watches, now } = parts;
    this.#parts = parts;
    this.elapsedNow = before?.elapsedNow ?? createElapsedClock(now, steadyNow);
    this.#readings = new Map(before ? before.#readings : []);
    this.#stale = new Map(before ? before.#stale : []);
    this.#lastKnown = new Map(before ? before.#lastKnown : []);
    this.#objects = new Map(before ? before.#objects : []);
    this.#latest = new Map([...(before ? before.#latest : [])].filter(([name]) => collectors.has(name)));
    this.#facts = applianceFacts(this.#latest);
    for (const [key, reading] of this.#readings) {
      const { maxStaleMs } = collectors.get(reading.collector) ?? reading;
      const isStretched = reading.lifeMs > reading.maxStaleMs;
      this.#readings.set(key, { ...reading, maxStaleMs, lifeMs: isStretched ? reading.lifeMs : maxStaleMs });
    }
    for (const origin of [...this.#readings.values(), ...this.#stale.values()])
      if (!collectors.has(origin.collector) || (origin.farm !== undefined && !watches(origin.farm)))
        this.#forget(origin);
  }

  /** Returns what collectors of this appliance learned from each other's results. */
  get facts(): Facts {
    return this.#facts;
  }

  /** Returns the readings by {@link keyOf}; all of them are fresh after `expire`. */
  snapshot(): ReadonlyMap<string, Reading> {
    return this.#readings;
  }

  /** Returns a collector's reading, of one farm if it is named; undefined without a fresh one. */
  reading<Data>(collector: Collector<Data>, farm?: string): Reading<Data> | undefined {
    return readingIn(this.#readings, collector, farm);
  }

  /** Returns the newest data of a collector, however old. */
  latest<Data>(collector: ApplianceCollector<Data>): Data | undefined {
    return dataOf(this.#latest, collector);
  }

  /** Returns readings that are too old to be shown, by {@link keyOf}. */
  get lastKnown(): ReadonlyMap<string, Reading> {
    return this.#lastKnown;
  }

  get staleCollectors(): ReadonlySet<string> {
    return new Set([...this.#stale.values()].map(({ collector }) => collector));
  }

  /**
   * Keeps a reading, unless a newer one came first; throws if it is too long beside the others.
   */
  put(found: FoundReading): StateChanges {
    const { collector, farm, ...kept } = found;
    const origin = { collector: collector.name, farm };
    const key = keyOf(origin);
    if ((this.#readings.get(key)?.takenAtMs ?? Number.NEGATIVE_INFINITY) > kept.takenAtMs) return noChanges;
    const bytes = this.#admit(origin, kept.data);
    const { appliance, listeners, now } = this.#parts;
    const objects = collector.entity?.states(kept.data) ?? [];
    const moment = { atMs: now(), elapsedMs: this.elapsedNow() };
    const { states, transitions } = compareStates(appliance, this.#objects.get(key), objects, moment);
    this.#objects.set(key, states);
    for (const listener of listeners) listener.onReading?.(found, transitions, moment);
    this.#readings.set(key, { ...origin, ...kept, since: sinceOf(states, now), bytes });
    this.#stale.delete(key);
    this.#lastKnown.delete(key);
    const farms = transitions.flatMap(({ object, labels }) => (object === 'farm' ? (labels.farm ?? []) : []));
    if (isFarmCollector(collector)) return { ...noChanges, farms };
    const learned = this.#learn(collector, kept.data);
    return { ...learned, farms: [...farms, ...learned.newFarms] };
  }

  /** Removes what is too old, and returns it. `maxAgeMs` returns up to which age it is shown. */
  expire(maxAgeMs: (reading: Origin & ReadingLife) => number): readonly Reading[] {
    const elapsedMs = this.elapsedNow();
    const expired: Reading[] = [];
    for (const [key, reading] of this.#readings) {
      if (elapsedMs - reading.takenAtMs < maxAgeMs(reading)) continue;
      const { collector, farm } = reading;
      this.#readings.delete(key);
      this.#stale.set(key, { collector, farm });
      this.#lastKnown.set(key, reading);
      this.#removed({ collector, farm }, 'stale');
      expired.push(reading);
    }
    return expired;
  }

  /** Returns the bytes of a reading; throws if it is too long beside the others. */
  #admit(origin: Origin, data: unknown): number {
    const { maxBytes } = this.#parts;
    const key = keyOf(origin);
    const bytes = sizeOf(data);
    let all = bytes;
    for (const [other, reading] of this.#readings) if (other !== key) all += reading.bytes;
    if (all <= maxBytes) {
      this.#forgetLastKnown(maxBytes - all);
      return bytes;
    }
    const message = `all that is known of the appliance would take more than ${maxBytes} bytes; leave farms out with farms.exclude, or raise limits.body_bytes, of which it is ${keptReplies} times`;
    throw new ApplianceError('oversize', { endpoint: origin.collector, message });
  }

  /** Forgets what was known last until the rest has no more than these bytes, the oldest first. */
  #forgetLastKnown(maxBytes: number): void {
    let all = 0;
    for (const { bytes } of this.#lastKnown.values()) all += bytes;
    for (const [key, { bytes }] of this.#lastKnown) {
      if (all <= maxBytes) return;
      this.#lastKnown.delete(key);
      all -= bytes;
    }
  }

  #learn({ name }: ApplianceCollector, data: unknown): StateChanges {
    const before = this.#facts;
    this.#latest.set(name, data);
    const after = applianceFacts(this.#latest);
    this.#facts = after;
    const listed = new Set(after.farms?.map((farm) => farm.name));
    for (const { name: farm } of before.farms ?? [])
      if (!listed.has(farm)) for (const collector of this.#parts.collectors.keys()) this.#forget({ collector, farm });
    const known = new Map(before.farms?.map(({ name: farm, profile }) => [farm, profile]));
    const isNew = before.version !== undefined && after.version !== before.version;
    return {
      farms: [],
      newFarms: before.farms
        ? (after.farms ?? []).filter((farm) => known.get(farm.name) !== farm.profile).map((farm) => farm.name)
        : [],
      version: isNew ? { from: before.version, to: after.version } : undefined,
      isLicensedAgain: before.licensed === false && after.licensed === true,
    };
  }

  #forget(origin: Origin): void {
    const key = keyOf(origin);
    for (const part of [this.#readings, this.#stale, this.#lastKnown, this.#objects]) part.delete(key);
    this.#removed(origin, 'gone');
  }

  #removed(origin: Origin, why: 'stale' | 'gone'): void {
    for (const listener of this.#parts.listeners) listener.onRemoved?.(origin, why);
  }
}
