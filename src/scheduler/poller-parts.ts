import type { Logger } from 'pino';
import type { Breaker } from '../appliance/breaker.ts';
import type { ApplianceClient, CallReport } from '../appliance/client.ts';
import type { VipSettings } from '../collectors/collector.ts';
import { createAgeClock, steadyNow } from '../lib/time.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { AnswersState } from './answers.ts';
import type { Counters } from './counters.ts';
import type { Job, LastRun, ScheduledCollector } from './job.ts';
import type { Lateness } from './lateness.ts';
import type { EvictedReadings, StoredReadings } from './reading-store.ts';
import type { Cron } from './schedule.ts';
import type { Transition } from '../state/status.ts';
import type { KnownStates } from './transitions.ts';

/** The settings of one appliance, and the services that its poller uses. */
export interface AppliancePollerParts {
  readonly name: string;
  /** The origin of its address. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Farms with an objective; undefined where it sends no log of requests. */
  readonly objectives?: readonly string[] | undefined;
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
    /** See `polling.ask_l4_daemon` in docs/configuration.md. */
    readonly askL4Daemon?: boolean;
  };
  readonly maxSeries: number;
  /** Limit of what is kept of its replies. */
  readonly maxBytes: number;
  readonly counters: Counters;
  readonly onTransition: (transition: Transition) => void;
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
  readonly lateness: Lateness;
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
  readonly answers: AnswersState | undefined;
  /** By the name of the collector. */
  readonly lastRuns: ReadonlyMap<string, LastRun>;
  /**
   * No call starts before this time, by the steady clock: a reload must not let polling exceed its
   * busy ratio.
   */
  readonly opensAtMs: number;
}

/**
 * Returns the state with which a poller begins: that of the poller before, without what the new
 * settings leave out, which is removed from `/metrics` as well. Nobody would read it again, so it
 * would stay true for ever.
 */
export function stateFrom(parts: AppliancePollerParts, jobs: ReadonlyMap<string, Job>): PollerState {
  const { name, state: before, store, watches, now } = parts;
  const state: PollerState = {
    age: before?.age ?? createAgeClock(now, steadyNow),
    newest: new Map([...(before?.newest ?? [])].filter(([collector]) => jobs.has(collector))),
    stored: new Map(before?.stored),
    evicted: new Map(before?.evicted),
    states: before?.states ?? new Map(),
    answers: before?.answers,
    lastRuns: new Map(before?.lastRuns),
    opensAtMs: before?.opensAtMs ?? 0,
  };
  // A collector may show something without a reading.
  for (const collector of state.lastRuns.keys()) if (!jobs.has(collector)) store.remove(name, collector);
  for (const [key, reading] of state.stored) {
    const job = jobs.get(reading.collector);
    if (job) state.stored.set(key, { ...reading, maxStaleMs: job.maxStaleMs });
  }
  for (const [key, { collector, farm }] of [...state.stored, ...state.evicted]) {
    if (jobs.has(collector) && (farm === undefined || watches(farm))) continue;
    store.remove(name, key);
    for (const part of [state.stored, state.evicted, state.states]) part.delete(key);
  }
  return state;
}
