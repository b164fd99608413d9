import type { EndpointRow } from '../../appliance/api/row.ts';
import { endpoints } from '../../appliance/api/table.ts';
import type { CallReport } from '../../appliance/client.ts';
import type { Farm } from '../../appliance/farm.ts';
import { type Collector, isPerFarmCollector } from '../../collectors/collector.ts';
import { waitedForProxyMs } from '../../collectors/farm-states.ts';
import { backendsCollector } from '../../collectors/backends.ts';
import type { FarmConfig } from '../../collectors/farm-config.ts';
import { farmsCollector } from '../../collectors/farms.ts';
import { stateImpliesBackends } from '../../collectors/implied-states.ts';
import { maxRatioOfRoutine, smallSeconds } from '../../scheduler/job.ts';
import { runsPerRound } from '../../scheduler/farm-read-planner.ts';

export interface ProbedRun {
  readonly collector: Collector;
  readonly calls: readonly CallReport[];
  /** The farms that were read one by one; undefined for a collector of the whole appliance. */
  readonly sampled: number | undefined;
  readonly intervalMs: number;
  readonly maxStaleMs: number;
}

export interface CostBasis {
  readonly farms: readonly Farm[];
  readonly configOf: (farm: string) => Pick<FarmConfig, 'checks'> | undefined;
  readonly routineBusyRatio: number;
}

/** Calls in a minute, and the seconds that the appliance works for them. */
export interface Cost {
  readonly calls: number;
  readonly seconds: number;
}

/**
 * Estimates what a minute of polling costs by the runs of a probe and the rules of the scheduler:
 * urgent readings as scheduled, and routine ones within their budget (docs/scaling.md).
 */
export function costPerMinute(runs: readonly ProbedRun[], basis: CostBasis): Cost {
  const costs = runs.map((run) => splitCost(run, basis));
  const urgent = sumOf(costs.map((each) => each.urgent));
  const small = sumOf(costs.map((each) => each.small));
  const large = sumOf(costs.map((each) => each.large));
  const leftSeconds = Math.max(0, 60 * basis.routineBusyRatio - small.seconds);
  return sumOf([urgent, small, scaled(large, Math.min(1, leftSeconds / Math.max(large.seconds, Number.MIN_VALUE)))]);
}

const noCost: Cost = { calls: 0, seconds: 0 };

/** Returns the cost of a collector in a minute: urgent, routine within any budget, and other routine. */
function splitCost(run: ProbedRun, basis: CostBasis): Readonly<Record<'urgent' | 'small' | 'large', Cost>> {
  const { collector, calls, sampled, intervalMs } = run;
  const spent = { calls: calls.length, seconds: workSecondsOf(calls.filter((call) => !hasWaited(call))) };
  const perMinute = 60_000 / intervalMs;
  if (isPerFarmCollector(collector)) {
    const perFarm = scaled(spent, perMinute / Math.max(1, sampled ?? 0));
    const { needed, others } = splitFarms(run, basis);
    return { urgent: scaled(perFarm, needed), small: noCost, large: scaled(perFarm, others) };
  }
  if (collector.name === farmsCollector.name) return { urgent: scaled(spent, perMinute), small: noCost, large: noCost };
  if (spent.seconds <= smallSeconds) return { urgent: noCost, small: scaled(spent, perMinute), large: noCost };
  const mostPerMinute = (60 * basis.routineBusyRatio * maxRatioOfRoutine) / spent.seconds;
  return { urgent: noCost, small: noCost, large: scaled(spent, Math.min(perMinute, mostPerMinute)) };
}

/** Returns how many farms a run reads on average, by the budget that pays for them. */
function splitFarms({ collector, ...life }: ProbedRun, { farms: listed, configOf }: CostBasis) {
  const covered = listed.filter((farm) => isPerFarmCollector(collector) && collector.covers(farm));
  if (collector.name !== backendsCollector.name) return { needed: 0, others: covered.length };
  const known = covered.filter((farm) => stateImpliesBackends(farm, configOf(farm.name)));
  return { needed: covered.length - known.length, others: known.length / runsPerRound(life) };
}

function scaled({ calls, seconds }: Cost, factor: number): Cost {
  return { calls: calls * factor, seconds: seconds * factor };
}

function sumOf(costs: readonly Cost[]): Cost {
  return costs.reduce(
    (sum, { calls, seconds }) => ({ calls: sum.calls + calls, seconds: sum.seconds + seconds }),
    noCost,
  );
}

/** Returns the seconds of calls as the budget counts them: without the time that the appliance sleeps. */
function workSecondsOf(calls: readonly CallReport[]): number {
  const rows: readonly EndpointRow[] = Object.values(endpoints);
  const sleepsMsOf = ({ method, endpoint }: CallReport): number =>
    rows.find(({ route }) => route === `${method} ${endpoint}`)?.sleepsMs ?? 0;
  return calls.reduce((sum, call) => sum + Math.max(0, call.seconds - sleepsMsOf(call) / 1_000), 0);
}

export function secondsOf(calls: readonly CallReport[]): number {
  return calls.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Returns true for a call in which the appliance waited for a proxy. */
export function hasWaited({ waitsForProxies, code, seconds }: CallReport): boolean {
  return waitsForProxies === true && (code === 'timeout' || seconds * 1_000 >= waitedForProxyMs);
}
