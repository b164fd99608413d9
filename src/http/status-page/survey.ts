import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSlice } from '../../lib/slice.ts';
import { steadyNow } from '../../lib/steady-now.ts';
import type { ApplianceStatus, FarmStatus, FleetStatus, RecentTransition } from '../../monitor/status.ts';
import { applianceProblems } from './appliance-problems.ts';
import { type Counts, countsOf } from './counts.ts';
import { type Freshness, freshnessOf, isAsItShould } from './freshness.ts';
import { compareProblems, type Problem } from './problem.ts';
import { type Level, worst } from './sign.ts';

/** What the page says of an appliance, worked out. */
export interface Finding {
  readonly status: ApplianceStatus;
  readonly problems: readonly Problem[];
  readonly level: Level;
  readonly gaps: Gaps;
  /** How many of its readings are how fresh. */
  readonly readings: Counts<Freshness>;
  /** How many of its farms are in which state. */
  readonly farmStates: Counts<string>;
}

/** How much is not known for certain; as long as there is any, nobody may say that all is well. */
export interface Gaps {
  /** 1 before the first call to it came back. */
  readonly unread: number;
  /** 1 while nobody knows which farms it has, be it that nobody asks. */
  readonly lists: number;
  /** Readings that are late, failing, withheld or not there yet. */
  readonly readings: number;
  /** Farms whose backends are not known. */
  readonly farms: number;
}

/** The fleet at one moment. */
export interface Survey {
  readonly takenAtMs: number;
  /** In the order of the configuration. */
  readonly findings: readonly Finding[];
  /** Of all appliances, the worst first. */
  readonly problems: readonly Problem[];
  readonly transitions: readonly RecentTransition[];
}

/** Looks at the whole fleet; at most once a second, however many ask. */
export type Surveyor = () => Promise<Survey>;

const sharedForMs = 1_000;
/** After so long everything else has its turn. */
const sliceMs = 5;
/** Dates come nearer and readings age although nothing changed. */
const keptForMs = 5_000;

interface Kept {
  readonly finding: Finding;
  readonly untilMs: number;
}

export function createSurveyor(parts: { readonly describe: () => FleetStatus; readonly now: () => number }): Surveyor {
  const { describe, now } = parts;
  /** By the status itself, which is another object as soon as anything of it changed. */
  const kept = new WeakMap<ApplianceStatus, Kept>();
  let newest: Promise<Survey> | undefined;

  function findingOf(status: ApplianceStatus, nowMs: number): Finding {
    const known = kept.get(status);
    if (known && steadyNow() < known.untilMs) return known.finding;
    const problems = applianceProblems(status, nowMs);
    const readings = countsOf(status.collectors.map((each) => freshnessOf(each, nowMs)));
    const farmStates = countsOf((status.farms ?? []).map(({ state }) => state));
    const gaps = gapsOf(status, readings);
    const isIncomplete = Object.values(gaps).some((count) => count > 0);
    const level = worst([...problems.map((problem) => problem.level), ...(isIncomplete ? (['unknown'] as const) : [])]);
    const finding = { status, problems, level, gaps, readings, farmStates };
    kept.set(status, { finding, untilMs: steadyNow() + keptForMs });
    return finding;
  }

  async function take(): Promise<Survey> {
    const takenAtMs = now();
    const { appliances, transitions } = describe();
    const findings: Finding[] = [];
    const slice = createSlice(sliceMs);
    for (const status of appliances) {
      findings.push(findingOf(status, takenAtMs));
      if (slice.isOver) await slice.next();
    }
    await nextTurn();
    const problems = findings.flatMap((each) => each.problems);
    return { takenAtMs, findings, problems: problems.toSorted(compareProblems), transitions };
  }

  return () => {
    if (newest) return newest;
    newest = take();
    // Not kept for longer: it holds on to what was read then.
    setTimeout(() => (newest = undefined), sharedForMs).unref();
    return newest;
  };
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

/** False for backends that the API has no statistics of: those of datalink farms, and those of stopped farms. */
function isUnread({ profile, state, backends }: FarmStatus): boolean {
  if (profile === 'datalink' || state === 'down') return false;
  return backends === undefined || backends.some((each) => each.state === 'unknown');
}
