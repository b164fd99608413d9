import { createAgeClock, steadyNow } from '../lib/time.ts';
import type { CollectorStatisticsState } from './collector-statistics.ts';
import type { Job } from './job.ts';
import type { EvictedReadings, StoredReadings } from './reading-store.ts';
import type { KnownStates } from './transitions.ts';
import { applianceFacts } from '../collectors/appliance-facts.ts';
import type { ApplianceCollector, Facts } from '../collectors/collector.ts';

/** State that a poller gives to its replacement when the settings of an appliance change. */
export interface PollerState {
  /** The clock of all ages, see lib/time.ts. */
  readonly age: () => number;
  /** The newest data of the collectors that read the whole appliance, by name. */
  readonly newest: Map<string, unknown>;
  readonly stored: StoredReadings;
  readonly evicted: EvictedReadings;
  readonly states: KnownStates;
  /** Undefined before the first poller. */
  readonly statistics: CollectorStatisticsState | undefined;
  /**
   * No call starts before this time, by the steady clock: a reload must not let polling exceed its
   * busy ratio.
   */
  readonly opensAtMs: number;
}

/**
 * Returns the state with which a poller begins: that of the poller before, where the new settings
 * leave it valid.
 */
export function stateFrom(
  before: PollerState | undefined,
  jobs: ReadonlyMap<string, Job>,
  now: () => number,
): PollerState {
  return {
    age: before?.age ?? createAgeClock(now, steadyNow),
    newest: newestFrom(before, jobs),
    stored: storedFrom(before, jobs),
    evicted: new Map(before?.evicted),
    states: before?.states ?? new Map(),
    statistics: before?.statistics,
    opensAtMs: before?.opensAtMs ?? 0,
  };
}

/**
 * Leaves out the data of collectors that are off now: nobody reads it again, so it would stay true
 * for ever.
 */
function newestFrom(before: PollerState | undefined, jobs: ReadonlyMap<string, Job>): Map<string, unknown> {
  return new Map([...(before?.newest ?? [])].filter(([name]) => jobs.has(name)));
}

/** Returns the readings with the staleness of the new settings. */
function storedFrom(before: PollerState | undefined, jobs: ReadonlyMap<string, Job>): StoredReadings {
  const stored: StoredReadings = new Map(before?.stored);
  for (const [key, reading] of stored) {
    const job = jobs.get(reading.collector);
    if (job) stored.set(key, { ...reading, maxStaleMs: job.maxStaleMs });
  }
  return stored;
}

export interface KnownFactsParts {
  /** The newest data by collector, also of the poller before. */
  readonly newest: Map<string, unknown>;
  readonly onVersionChanged: (from: string, to: string | undefined) => void;
  readonly onFarmGone: (farm: string) => void;
  /** Called when the appliance no longer refuses everything because its licence is missing. */
  readonly onLicensedAgain: () => void;
}

/** Keeps the facts that collectors of one appliance share, and acts when they change. */
export class KnownFacts {
  readonly #parts: KnownFactsParts;
  #current: Facts;

  constructor(parts: KnownFactsParts) {
    this.#parts = parts;
    this.#current = applianceFacts(parts.newest);
  }

  get current(): Facts {
    return this.#current;
  }

  /** Applies the newest data of a collector. */
  update<Data>({ name }: ApplianceCollector<Data>, data: Data): void {
    const { newest, onVersionChanged, onFarmGone, onLicensedAgain } = this.#parts;
    const before = this.#current;
    newest.set(name, data);
    const after = applianceFacts(newest);
    this.#current = after;
    if (before.version !== undefined && after.version !== before.version)
      onVersionChanged(before.version, after.version);
    const listed = new Set(after.farms?.map((farm) => farm.name));
    for (const farm of before.farms ?? []) if (!listed.has(farm.name)) onFarmGone(farm.name);
    if (before.licensed === false && after.licensed === true) onLicensedAgain();
  }
}
