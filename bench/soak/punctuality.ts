import { readFileSync } from 'node:fs';
import { percentile } from '../measure.ts';
import type { SeenCall } from './appliance-process.ts';
import { type Finding, none } from './finding.ts';
import { offsetMsOf, type Pace } from './plan.ts';

/** How the calls of some appliances kept to their schedules in a stretch of time. */
export interface Punctuality {
  /** Cycles that had to be. */
  readonly due: number;
  /** Cycles left out of the account, since the machine kept everybody waiting for half of one. */
  readonly excused: number;
  /** Cycles without a call, and calls that no cycle asks for. */
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A stretch of time in Unix milliseconds. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The schedules that the requests show: the calls that one collector alone makes, once for each
 * run.
 */
const routes = [
  ['farms', 'GET /stats/farms'],
  ['summary', 'GET /farms/modules/summary'],
  ['system', 'GET /stats'],
] as const;

/** Timers may fire a little early by another clock. */
const earlyMs = 50;

/** Holds the request logs of simulated appliances against the schedules. */
export function punctualityOf(
  appliances: readonly string[],
  calls: readonly SeenCall[],
  { fromMs, toMs, pace, waits }: Stretch & { readonly pace: Pace; readonly waits: Waits },
): Punctuality {
  const missing: string[] = [];
  const extra: string[] = [];
  const lateMs: number[] = [];
  let due = 0;
  let excused = 0;
  for (const [collectorName, route] of routes) {
    const collector = pace.collectors.find(({ name }) => name === collectorName);
    if (!collector) throw new Error(`${collectorName} is not polled`);
    const { intervalMs } = collector;
    for (const appliance of appliances) {
      const offsetMs = offsetMsOf(appliance, collector) - earlyMs;
      const counts = new Map<number, number>();
      for (const call of calls) {
        if (call.appliance !== appliance || call.route !== route) continue;
        const cycle = Math.floor((call.startedAt - offsetMs) / intervalMs);
        counts.set(cycle, (counts.get(cycle) ?? 0) + 1);
        if (call.startedAt >= fromMs && call.startedAt < toMs)
          lateMs.push(call.startedAt - offsetMs - cycle * intervalMs - earlyMs);
      }
      const first = Math.ceil((fromMs - offsetMs) / intervalMs);
      // The last one has to be over.
      for (let cycle = first; (cycle + 1) * intervalMs + offsetMs < toMs; cycle += 1) {
        const count = counts.get(cycle) ?? 0;
        const beginsMs = cycle * intervalMs + offsetMs;
        due += 1;
        if (count !== 1 && waits.between(beginsMs - intervalMs, beginsMs + intervalMs) > intervalMs / 2) {
          excused += 1;
          continue;
        }
        const when = new Date(beginsMs).toISOString();
        if (count === 0) missing.push(`${appliance} ${collectorName} ${when}`);
        if (count > 1) extra.push(`${appliance} ${collectorName} ${when} (${count} calls)`);
      }
    }
  }
  return {
    due,
    excused,
    missing,
    extra,
    p50Ms: percentile(lateMs, 0.5),
    p99Ms: percentile(lateMs, 0.99),
    maxMs: Math.max(...lateMs),
  };
}

/** Returns the findings about a stretch of time. */
export function aboutPunctuality(part: string, name: string, punctuality: Punctuality): readonly Finding[] {
  const { due, excused, missing, extra, p50Ms, p99Ms, maxMs } = punctuality;
  const [p50, p99, max] = [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(0));
  return [
    { part, name: `${name}: lateness p50/p99/max of ${due} cycles`, value: `${p50}/${p99}/${max} ms` },
    none(part, `${name}: missed cycles${excused > 0 ? ` (and ${excused} for want of a processor)` : ''}`, missing),
    none(part, `${name}: calls that nobody asked for`, extra),
  ];
}

/**
 * How long the machine kept processes waiting that had something to do: what is late for that is
 * not late by itself.
 */
export interface Waits {
  sample(): void;
  /** Milliseconds that they waited in a stretch of time, all together. */
  between(fromMs: number, toMs: number): number;
}

interface Sample {
  readonly atMs: number;
  /** Since the processes began. */
  readonly waitedMs: number;
}

export function createWaits(pids: readonly number[]): Waits {
  const samples: Sample[] = [];

  function waitedBy(timeMs: number): number {
    const after = samples.findIndex(({ atMs }) => atMs >= timeMs);
    const [first, second] = after === -1 ? [samples.at(-1), undefined] : [samples[after - 1], samples[after]];
    if (!first || !second) return (first ?? second)?.waitedMs ?? 0;
    const share = (timeMs - first.atMs) / (second.atMs - first.atMs);
    return first.waitedMs + share * (second.waitedMs - first.waitedMs);
  }

  return {
    sample() {
      const waited = pids.map(waitedMsOf).reduce((sum, ms) => sum + ms, 0);
      samples.push({ atMs: Date.now(), waitedMs: waited });
    },
    between: (fromMs, toMs) => waitedBy(toMs) - waitedBy(fromMs),
  };
}

/** Returns the time that the main thread waited on the kernel's run queue. */
function waitedMsOf(pid: number): number {
  const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waitedNs) / 1e6;
}
