// Holds the state of one appliance: the newest reading of each collector, its age, and the states of
// objects. Only the poller puts readings, and the fleet removes stale ones. Listeners (metrics,
// history, twins) are called in the order of the readings. Nothing here is asynchronous. Read on in
// reading.ts, appliance-status.ts (the status that is shown) and appliance-problems.ts.

import type { FailureReason } from '../appliance/errors.ts';
import { applianceFacts, dataOf } from '../collectors/appliance-facts.ts';
import {
  type ApplianceWideCollector,
  type Collector,
  type Facts,
  isPerFarmCollector,
} from '../collectors/collector.ts';
import { sizeOf } from '../lib/size.ts';
import { createElapsedClock, steadyNow } from '../lib/time.ts';
import { compareStates, type ObjectStates, changeTimesOf } from './object-states.ts';
import { readingKey, type Moment, type NewReading, type Origin, type Reading, readingIn } from './reading.ts';
import type { Transition } from './status.ts';

/** All readings of an appliance together may take the memory of so many replies of the maximum length. */
export const storedReplies = 4;

/** The differences of a reading from the state before; the scheduler acts on them. */
export interface StateDelta {
  /** Farms that are new or have another state. */
  readonly changedFarms: readonly string[];
  /** Farms that are new, or were created again with another profile. */
  readonly newFarms: readonly string[];
  readonly version?: { readonly from: string; readonly to: string | undefined } | undefined;
  /** True if the appliance was deactivated before, and no longer is. */
  readonly isReactivated?: boolean;
}

/** Called for each change. */
export interface StateListener {
  /** A newer reading came, with these changes of state. */
  onReading?(reading: NewReading, transitions: readonly Transition[], moment: Moment): void;
  /** A reading is too old; or `gone`: its farm does not exist any more, or the settings exclude it. */
  onRemoved?(origin: Origin, why: 'stale' | 'gone'): void;
  /** The appliance answers again, or stopped answering for the reason `because`. */
  onAnswering?(isUp: boolean, because: FailureReason | undefined): void;
}

/** Reports a reading that exceeds the limit of memory with the others of its appliance. */
export class ReadingTooLongError extends Error {
  override readonly name = 'ReadingTooLongError';
  readonly reason = 'oversize';
}

export interface ApplianceStateParts {
  readonly appliance: string;
  /** Enabled collectors with their `max_stale`, by name. */
  readonly collectors: ReadonlyMap<string, { readonly maxStaleMs: number }>;
  readonly watches: (farm: string) => boolean;
  /** The limit of all readings together, in memory. */
  readonly maxBytes: number;
  readonly listeners: readonly StateListener[];
  readonly now: () => number;
  readonly before?: ApplianceState | undefined;
}

const noDelta: StateDelta = { changedFarms: [], newFarms: [] };

/** Holds the readings, facts and states of one appliance; see the head of this file. */
export class ApplianceState {
  /** Reads the elapsed clock of the appliance in milliseconds, see lib/time.ts. */
  readonly elapsedNow: () => number;
  readonly #parts: ApplianceStateParts;
  /** By {@link readingKey}, as the next three. */
  readonly #readings: Map<string, Reading>;
  /** Origins of stale readings that were not read again. */
  readonly #stale: Map<string, Origin>;
  /** Stale readings, as far as the limit has room for them. */
  readonly #lastKnown: Map<string, Reading>;
  readonly #objects: Map<string, ObjectStates>;
  /** The newest data of collectors that read the whole appliance, by name, however old. */
  readonly #latest: Map<string, unknown>;
  #facts: Facts;

  /** Continues the state `before`, without what the new settings exclude. */
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

  /** Returns what collectors learn from each other's results. */
  get facts(): Facts {
    return this.#facts;
  }

  /** Returns the readings by {@link readingKey}; all of them are fresh after `expire`. */
  snapshot(): ReadonlyMap<string, Reading> {
    return this.#readings;
  }

  /** Returns a collector's reading, of one farm if it is named; undefined without a fresh one. */
  reading<Data>(collector: Collector<Data>, farm?: string): Reading<Data> | undefined {
    return readingIn(this.#readings, collector, farm);
  }

  /** Returns the newest data of a collector, however old. */
  latest<Data>(collector: ApplianceWideCollector<Data>): Data | undefined {
    return dataOf(this.#latest, collector);
  }

  /** Returns readings that are too old to be shown, by {@link readingKey}. */
  get lastKnown(): ReadonlyMap<string, Reading> {
    return this.#lastKnown;
  }

  get staleCollectors(): ReadonlySet<string> {
    return new Set([...this.#stale.values()].map(({ collector }) => collector));
  }

  /** Stores a reading, unless a newer one came first; throws if it exceeds the limit with the others. */
  put(reading: NewReading): StateDelta {
    const { collector, farm, ...stored } = reading;
    const origin = { collector: collector.name, farm };
    const key = readingKey(origin);
    if ((this.#readings.get(key)?.askedAtElapsedMs ?? Number.NEGATIVE_INFINITY) > stored.askedAtElapsedMs)
      return noDelta;
    const bytes = this.#admit(origin, stored.data);
    const { appliance, listeners, now } = this.#parts;
    const objects = collector.entity?.states(stored.data) ?? [];
    const moment = { atMs: now(), atElapsedMs: this.elapsedNow() };
    const { states, transitions } = compareStates(appliance, this.#objects.get(key), objects, moment);
    // Before it is kept: one that cannot be published fails its step, and the one before stays.
    for (const listener of listeners) listener.onReading?.(reading, transitions, moment);
    this.#objects.set(key, states);
    this.#readings.set(key, { ...origin, ...stored, changedAt: changeTimesOf(states, now), bytes });
    this.#stale.delete(key);
    this.#lastKnown.delete(key);
    const changedFarms = transitions.flatMap(({ object, labels }) => (object === 'farm' ? (labels.farm ?? []) : []));
    if (isPerFarmCollector(collector)) return { ...noDelta, changedFarms };
    const learned = this.#learn(collector, stored.data);
    return { ...learned, changedFarms: [...changedFarms, ...learned.newFarms] };
  }

  /** Removes and returns stale readings. `maxAgeMs` returns the age up to which a reading is shown. */
  expire(maxAgeMs: (reading: Reading) => number): readonly Reading[] {
    const nowElapsedMs = this.elapsedNow();
    const expired: Reading[] = [];
    for (const [key, reading] of this.#readings) {
      if (nowElapsedMs - reading.askedAtElapsedMs < maxAgeMs(reading)) continue;
      const { collector, farm } = reading;
      this.#readings.delete(key);
      this.#stale.set(key, { collector, farm });
      this.#lastKnown.set(key, reading);
      this.#notifyRemoved({ collector, farm }, 'stale');
      expired.push(reading);
    }
    return expired;
  }

  /** Returns the bytes of a reading; throws if it exceeds the limit with the others. */
  #admit(origin: Origin, data: unknown): number {
    const { maxBytes } = this.#parts;
    const key = readingKey(origin);
    const bytes = sizeOf(data);
    let all = bytes;
    for (const [other, reading] of this.#readings) if (other !== key) all += reading.bytes;
    if (all <= maxBytes) {
      this.#forgetLastKnown(maxBytes - all);
      return bytes;
    }
    const message = `the readings of the appliance would take more than ${maxBytes} bytes, ${storedReplies} times limits.body_bytes; exclude farms with farms.exclude, or raise limits.body_bytes`;
    throw new ReadingTooLongError(message);
  }

  /** Forgets stale readings, the oldest first, until the others take at most these bytes. */
  #forgetLastKnown(maxBytes: number): void {
    let all = 0;
    for (const { bytes } of this.#lastKnown.values()) all += bytes;
    for (const [key, { bytes }] of this.#lastKnown) {
      if (all <= maxBytes) return;
      this.#lastKnown.delete(key);
      all -= bytes;
    }
  }

  #learn({ name }: ApplianceWideCollector, data: unknown): StateDelta {
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
      changedFarms: [],
      newFarms: before.farms
        ? (after.farms ?? []).filter((farm) => known.get(farm.name) !== farm.profile).map((farm) => farm.name)
        : [],
      version: isNew ? { from: before.version, to: after.version } : undefined,
      isReactivated: before.isActivated === false && after.isActivated === true,
    };
  }

  #forget(origin: Origin): void {
    const key = readingKey(origin);
    for (const part of [this.#readings, this.#stale, this.#lastKnown, this.#objects]) part.delete(key);
    this.#notifyRemoved(origin, 'gone');
  }

  #notifyRemoved(origin: Origin, why: 'stale' | 'gone'): void {
    for (const listener of this.#parts.listeners) listener.onRemoved?.(origin, why);
  }
}
