import { type Level, worstLevel } from './level.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createTimeSlice, steadyNow } from '../lib/time.ts';
import type { ApplianceStatus, FleetStatus, LastMinuteOf } from './status.ts';
import { applianceProblems } from './appliance-problems.ts';
import { type Freshness, freshnessOf, isFreshOrUnsupported } from './freshness.ts';
import { compareProblems, type Problem } from './problem.ts';

export interface ApplianceHealth {
  readonly status: ApplianceStatus;
  /** The worst first. */
  readonly problems: readonly Problem[];
  /** The problems of level `unknown`. */
  readonly doubts: readonly Problem[];
  readonly level: Level;
  readonly gaps: Gaps;
  readonly freshness: Counts<Freshness>;
  readonly farmStates: Counts<string>;
}

/** Counts of what is not known; "nothing is wrong" requires that all are 0. */
export interface Gaps {
  /** 1 before the first call was answered. */
  readonly unread: number;
  /** 1 while its list of farms is unknown, also if it is not polled. */
  readonly lists: number;
  /** Readings that are late, failing, stale or missing. */
  readonly notFresh: number;
  /** Farms whose backends are unknown. */
  readonly farms: number;
  /** Farms for which a probe cannot decide whether they serve. */
  readonly probes: number;
  /** Certificates that were not renewed in time, without a farm that is known to use them. */
  readonly certificates: number;
}

export interface HealthSummary {
  readonly takenAtMs: number;
  readonly perAppliance: readonly ApplianceHealth[];
  readonly problems: readonly Problem[];
  readonly lastMinuteOf: LastMinuteOf;
}

/**
 * Returns the health of all appliances. It is computed at most once a second, and in at most a tenth
 * of the time, however many callers there are.
 */
export type SummarizeHealth = () => Promise<HealthSummary>;

const sharedForMs = 1_000;
/** A summary is shared for ten times as long as it took to compute, up to this time. */
const maxSharedMs = 10_000;
/** Maximum time in one tick of the event loop. */
const sliceMs = 5;

export function createHealthSummary(parts: {
  readonly fleetStatus: () => FleetStatus;
  readonly lastMinuteOf: LastMinuteOf;
  readonly now: () => number;
}): SummarizeHealth {
  const { fleetStatus, lastMinuteOf, now } = parts;
  let newest: Promise<HealthSummary> | undefined;

  async function summarize(): Promise<HealthSummary> {
    const takenAtMs = now();
    const { appliances } = fleetStatus();
    const perAppliance: ApplianceHealth[] = [];
    const slice = createTimeSlice(sliceMs);
    for (const status of appliances) {
      perAppliance.push(healthOf(status, takenAtMs));
      if (slice.isOver) await slice.next();
    }
    await yieldToEventLoop();
    const problems = perAppliance.flatMap((each) => each.problems);
    return { takenAtMs, perAppliance, problems: problems.toSorted(compareProblems), lastMinuteOf };
  }

  return () => {
    if (newest) return newest;
    const startSteadyMs = steadyNow();
    newest = summarize();
    // Dropped then, because a summary keeps the readings in memory.
    const drop = (): void => {
      const sharedMs = Math.min(Math.max(sharedForMs, 10 * (steadyNow() - startSteadyMs)), maxSharedMs);
      setTimeout(() => (newest = undefined), sharedMs).unref();
    };
    newest.then(drop, drop);
    return newest;
  };
}

function healthOf(status: ApplianceStatus, nowMs: number): ApplianceHealth {
  const all = applianceProblems(status, nowMs);
  const problems = all.filter(({ level }) => level !== 'unknown');
  const doubts = all.filter(({ level }) => level === 'unknown');
  const freshness = countByKey(status.collectors.map((each) => freshnessOf(each, nowMs)));
  const farmStates = countByKey((status.farms ?? []).map(({ state }) => state));
  const gaps = countGaps(status, freshness, doubts);
  const isComplete = Object.values(gaps).every((count) => count === 0);
  const level = worstLevel([isComplete ? 'well' : 'unknown', ...problems.map((problem) => problem.level)]);
  return { status, problems, doubts, level, gaps, freshness, farmStates };
}

function countGaps(status: ApplianceStatus, freshness: Counts<Freshness>, doubts: readonly Problem[]): Gaps {
  const imperfect = [...freshness].filter(([each]) => !isFreshOrUnsupported(each));
  return {
    unread: Number(status.up === undefined),
    lists: Number(status.up !== undefined && status.farms === undefined),
    notFresh: imperfect.reduce((sum, [, count]) => sum + count, 0),
    farms: doubts.filter(({ about, alert }) => about === 'farm' && alert !== 'ZlbFarmUnreachable').length,
    probes: doubts.filter(({ alert }) => alert === 'ZlbFarmUnreachable').length,
    certificates: doubts.filter(({ about }) => about === 'certificate').length,
  };
}

export type Counts<Key> = ReadonlyMap<Key, number>;

function countByKey<Key>(all: readonly Key[]): Counts<Key> {
  const counts = new Map<Key, number>();
  for (const key of all) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export function sumCounts<Key>(all: readonly Counts<Key>[]): Counts<Key> {
  const sums = new Map<Key, number>();
  for (const counts of all) for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}
