import type { Logger } from 'pino';
import type { Breaker } from '../appliance/breaker.ts';
import type { ApplianceClient, CallReport } from '../appliance/client.ts';
import type { VipSettings } from '../collectors/collector.ts';
import { createAgeClock, steadyNow } from '../lib/time.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { CollectorStatisticsState } from './collector-statistics.ts';
import type { Counters } from './counters.ts';
import type { Job, ScheduledCollector } from './job.ts';
import type { EvictedReadings, StoredReadings } from './reading-store.ts';
import type { Cron } from './schedule.ts';
import type { RecentTransition } from '../status/status.ts';
import type { KnownStates } from './transitions.ts';

/** The settings of one appliance, and the services that its poller uses. */
export interface AppliancePollerParts {
  readonly name: string;
  /** The origin of its address. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly watches: (farm: string) => boolean;
  readonly vip: VipSettings;
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
  /** Enabled collectors in order of priority. */
  readonly collectors: readonly ScheduledCollector[];
  readonly connect: (onCall: (report: CallReport) => void) => ApplianceClient;
  readonly polling: {
    readonly timeoutMs: number;
    readonly maxConcurrentPerAppliance: number;
    readonly maxBusyRatio: number;
    readonly jitterRatio: number;
  };
  readonly maxSeries: number;
  readonly counters: Counters;
  readonly onTransition: (transition: RecentTransition) => void;
  /** State of the poller that this one replaces, if it polled the same appliance. */
  readonly state?: PollerState | undefined;
  readonly store: MetricsStore;
  readonly cron: Cron;
  readonly log: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

/** The parts of a poller with what they share while it polls. */
export interface SharedParts extends AppliancePollerParts {
  /** By the name of the collector, in order of priority. */
  readonly jobs: ReadonlyMap<string, Job>;
  readonly state: PollerState;
  readonly breaker: Breaker;
}

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
