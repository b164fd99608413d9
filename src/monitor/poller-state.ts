import type { Job, ScheduledCollector } from './job.ts';
import type { CollectorStatisticsState } from './collector-statistics.ts';
import type { StoredReadings, EvictedReadings } from './reading-store.ts';
import type { KnownStates } from './transitions.ts';

/** What a poller hands on to the one that replaces it when the settings of an appliance change. */
export interface PollerState {
  /** The clock of all ages, see lib/age-clock.ts. */
  readonly age: () => number;
  /** The newest data of the collectors that read the whole appliance, by name. */
  readonly newest: ReadonlyMap<string, unknown>;
  readonly stored: StoredReadings;
  readonly evicted: EvictedReadings;
  readonly states: KnownStates;
  readonly statistics: CollectorStatisticsState;
  /** No call starts before this time, by the steady clock: a reload must not let polling exceed its busy ratio. */
  readonly opensAtMs: number;
}

/** The data known already, but for collectors that are off now: it would stay true for ever, since nobody looks again. */
export function newestFrom(
  legacy: PollerState | undefined,
  collectors: readonly ScheduledCollector[],
): Map<string, unknown> {
  const on = new Set(collectors.map(({ collector }) => collector.name));
  return new Map([...(legacy?.newest ?? [])].filter(([name]) => on.has(name)));
}

/** Returns the readings of the poller before, with the staleness of the new settings. */
export function storedFrom(legacy: PollerState | undefined, jobs: ReadonlyMap<string, Job>): StoredReadings {
  const stored: StoredReadings = new Map(legacy?.stored);
  for (const [key, reading] of stored) {
    const job = jobs.get(reading.collector);
    if (job) stored.set(key, { ...reading, maxStaleMs: job.maxStaleMs });
  }
  return stored;
}
