import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTimeSlice } from '../lib/time.ts';
import type { ApplianceStatus, FarmStatus, FleetStatus, RecentTransition } from '../poller/status.ts';
import { applianceProblems } from './appliance-problems.ts';
import { type Counts, countsOf } from './html.ts';
import { type Freshness, freshnessOf, isAsItShould } from './freshness.ts';
import { compareProblems, type Problem } from './problem.ts';
import { type Severity, worstSeverity } from './severity.ts';

/** The summary of an appliance. */
export interface ApplianceHealth {
  readonly status: ApplianceStatus;
  /** The worst first. */
  readonly problems: readonly Problem[];
  readonly level: Severity;
  readonly gaps: Gaps;
  /** Number of readings by freshness. */
  readonly readings: Counts<Freshness>;
  /** Number of farms by state. */
  readonly farmStates: Counts<string>;
}

/** Counts of what is not known; "nothing is wrong" requires that all are 0. */
export interface Gaps {
  /** 1 before the first call has an answer. */
  readonly unread: number;
  /** 1 while its list of farms is unknown, also if it is not polled. */
  readonly lists: number;
  /** Readings that are late, failing, stale or missing. */
  readonly readings: number;
  /** Farms whose backends are unknown. */
  readonly farms: number;
}

/** The health of all appliances at one time. */
export interface HealthSummary {
  readonly takenAtMs: number;
  /** The appliances in the order of the configuration. */
  readonly perAppliance: readonly ApplianceHealth[];
  /** The problems of all appliances, the worst first. */
  readonly problems: readonly Problem[];
  readonly transitions: readonly RecentTransition[];
}

/** Returns the health of all appliances; computed at most once a second, however many ask. */
export type SummarizeHealth = () => Promise<HealthSummary>;

const sharedForMs = 1_000;
/** Maximum time in one tick of the event loop. */
const sliceMs = 5;

export function createHealthSummary(parts: {
  readonly describe: () => FleetStatus;
  readonly now: () => number;
}): SummarizeHealth {
  const { describe, now } = parts;
  let newest: Promise<HealthSummary> | undefined;

  async function take(): Promise<HealthSummary> {
    const takenAtMs = now();
    const { appliances, transitions } = describe();
    const perAppliance: ApplianceHealth[] = [];
    const slice = createTimeSlice(sliceMs);
    for (const status of appliances) {
      perAppliance.push(healthOf(status, takenAtMs));
      if (slice.isOver) await slice.next();
    }
    await nextTurn();
    const problems = perAppliance.flatMap((each) => each.problems);
    return { takenAtMs, perAppliance, problems: problems.toSorted(compareProblems), transitions };
  }

  return () => {
    if (newest) return newest;
    newest = take();
    // Dropped after that time, because it retains the readings.
    setTimeout(() => (newest = undefined), sharedForMs).unref();
    return newest;
  };
}

function healthOf(status: ApplianceStatus, nowMs: number): ApplianceHealth {
  const problems = applianceProblems(status, nowMs);
  const readings = countsOf(status.collectors.map((each) => freshnessOf(each, nowMs)));
  const farmStates = countsOf((status.farms ?? []).map(({ state }) => state));
  const gaps = gapsOf(status, readings);
  const isComplete = Object.values(gaps).every((count) => count === 0);
  const level = worstSeverity([isComplete ? 'well' : 'unknown', ...problems.map((problem) => problem.level)]);
  return { status, problems, level, gaps, readings, farmStates };
}

function gapsOf(status: ApplianceStatus, readings: Counts<Freshness>): Gaps {
  const asksForBackends = status.collectors.some(({ name }) => name === 'backends');
  const imperfect = [...readings].filter(([freshness]) => !isAsItShould(freshness));
  return {
    unread: Number(status.up === undefined),
    lists: Number(status.up !== undefined && status.farms === undefined),
    readings: imperfect.reduce((sum, [, count]) => sum + count, 0),
    farms: asksForBackends ? (status.farms ?? []).filter(isUnread).length : 0,
  };
}

/**
 * Returns false for backends without statistics in the API: those of datalink farms and of stopped
 * farms.
 */
function isUnread({ profile, state, backends }: FarmStatus): boolean {
  if (profile === 'datalink' || state === 'down') return false;
  return backends === undefined || backends.some((each) => each.state === 'unknown');
}
