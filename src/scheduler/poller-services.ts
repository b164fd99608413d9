import type { Logger } from 'pino';
import { type Breaker, createBreaker } from '../appliance/breaker.ts';
import type { ApplianceClient, CallReport } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { VipSettings } from '../collectors/collector.ts';
import type { InSlot } from '../lib/slots.ts';
import type { MetricsStore } from '../metrics/store.ts';
import { ApplianceState, type StateListener } from '../state/appliance-state.ts';
import type { FarmObjective } from '../state/status.ts';
import { Availability, type AvailabilityState } from './availability.ts';
import type { NotBefore, PollingLimits } from './call-queue.ts';
import type { Counters } from './counters.ts';
import { CollectorFailures } from './collector-failures.ts';
import { FarmReadPlanner } from './farm-read-planner.ts';
import { createJob, type InheritedJob, type Job, type ScheduledCollector } from './job.ts';
import { Lateness } from './lateness.ts';
import { ReadingLog } from './reading-log.ts';
import { ReadingPublisher } from './reading-publisher.ts';
import type { Cron } from './schedule.ts';

/** The settings of one appliance, and what its poller shares with others. */
export interface AppliancePollerParts {
  readonly name: string;
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Farms with an objective; undefined where it sends no log of requests. */
  readonly objectives?: readonly FarmObjective[] | undefined;
  /** Returns true if no request was counted in the first hour of its log. */
  readonly isRequestLogEmpty?: (() => boolean) | undefined;
  readonly watches: (farm: string) => boolean;
  readonly vip: VipSettings;
  /** Shared by all appliances. */
  readonly inProbeSlot: InSlot;
  /** Backends that are up have no series of their own. */
  readonly compact: boolean;
  readonly collectors: readonly ScheduledCollector[];
  readonly connect: (onCall: (report: CallReport) => void) => ApplianceClient;
  readonly polling: PollingLimits & { readonly timeoutMs: number; readonly jitterRatio: number };
  readonly maxSeries: number;
  /** Limit of what is kept of its replies. */
  readonly maxBytes: number;
  readonly counters: Counters;
  /** Notified after the poller's own. */
  readonly listeners?: readonly StateListener[] | undefined;
  /** State of the poller that this one replaces, if it polled the same appliance. */
  readonly handover?: PollerHandover | undefined;
  readonly store: MetricsStore;
  readonly cron: Cron;
  readonly log: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

export interface PollerServices extends AppliancePollerParts {
  /** By the name of the collector, in the order of the registry. */
  readonly jobs: ReadonlyMap<string, Job>;
  readonly state: ApplianceState;
  readonly readingPublisher: ReadingPublisher;
  readonly failures: CollectorFailures;
  readonly availability: Availability;
  readonly breaker: Breaker;
  readonly lateness: Lateness;
  readonly planner: FarmReadPlanner;
}

/** State that a poller gives to its replacement when the settings of an appliance change. */
export interface PollerHandover {
  readonly state: ApplianceState;
  readonly availability: AvailabilityState;
  /** By the name of the collector. */
  readonly jobs: ReadonlyMap<string, InheritedJob>;
  readonly lateness: Lateness;
  /** A reload must not let polling exceed its busy ratios. */
  readonly notBefore: NotBefore;
  /** A reload is no sign that the appliance answers again. */
  readonly failure: FailureReason | undefined;
}

export function createPollerServices(parts: AppliancePollerParts): PollerServices {
  const { name: appliance, collectors, watches, maxBytes, polling, cron, random, counters, log, now, handover } = parts;
  const { jitterRatio } = polling;
  const jobs = new Map(
    collectors.map((each, rank) => {
      const { name } = each.collector;
      const intervalMs = cron.intervalMs(each.schedule);
      return [name, createJob(each, { appliance, rank, intervalMs, jitterRatio, before: handover?.jobs.get(name) })];
    }),
  );
  const lateness = handover?.lateness ?? new Lateness();
  const failures = new CollectorFailures(log, now);
  const readingLog = new ReadingLog(log);
  const readingPublisher = new ReadingPublisher({ ...parts, jobs, readingLog });
  const listeners = [readingPublisher, counters, readingLog, failures, ...(parts.listeners ?? [])];
  const state = new ApplianceState({
    appliance,
    collectors: jobs,
    watches,
    maxBytes,
    listeners,
    now,
    before: handover?.state,
  });
  const breaker = createBreaker({ elapsedNow: state.elapsedNow, random, before: handover?.failure });
  const asking = [...jobs.values()].filter(({ collector }) => !collector.makesNoCalls);
  const availability = new Availability({
    before: handover?.availability,
    callsSucceed: () => breaker.callsSucceed,
    now,
    upForMs: () => Math.min(...asking.map((job) => lateness.lifeMs(job))),
  });
  counters.startAtZero([...jobs.keys()]);
  const planner = new FarmReadPlanner(state);
  return { ...parts, jobs, state, readingPublisher, failures, availability, breaker, lateness, planner };
}
