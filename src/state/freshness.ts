import { isPerFarmCollector } from '../collectors/collector.ts';
import { collectors } from '../collectors/registry.ts';
import type { Level } from './level.ts';
import type { ApplianceStatus, CollectorFailure, CollectorStatus } from './status.ts';

type Reason = CollectorFailure['reason'];

/**
 * `late`: its next run is overdue. `stale`: too old to be shown. `failing`: the last run failed,
 * and an older reading is shown. `waiting`: its first run has not ended, or waits for another
 * reading. `unsupported`: the appliance does not have what it reads.
 */
export type Freshness = 'fresh' | 'late' | 'failing' | 'stale' | 'waiting' | 'unsupported';

/** The run was postponed and nothing failed, so only the age of the reading counts. */
const postponedReasons: readonly Reason[] = ['stretched', 'farms_unknown'];

/** Added to two intervals, for a run over many farms, its jitter and a short queue. */
const graceMs = 10_000;

export function freshnessOf(collector: CollectorStatus, nowMs: number): Freshness {
  const { ok, isSupported, isStale, failure, lastSuccessMs, intervalMs } = collector;
  if (!isSupported) return 'unsupported';
  if (isStale) return 'stale';
  if (ok === false || (failure && !postponedReasons.includes(failure.reason))) return 'failing';
  if (ok === undefined || lastSuccessMs === undefined) return 'waiting';
  return nowMs - lastSuccessMs > 2 * intervalMs + graceMs ? 'late' : 'fresh';
}

export const freshnessLevels: Readonly<Record<Freshness, Level>> = {
  fresh: 'well',
  late: 'unknown',
  failing: 'warning',
  stale: 'critical',
  waiting: 'unknown',
  unsupported: 'paused',
};

export function isFreshOrUnsupported(freshness: Freshness): boolean {
  return freshness === 'fresh' || freshness === 'unsupported';
}

/** Returns the value of `zlb_up`; false where it is not known yet. */
export function isAnswering({ up }: Pick<ApplianceStatus, 'up'>): boolean {
  return up === true;
}

const withoutCalls: ReadonlySet<string> = new Set(
  collectors.filter(({ makesNoCalls }) => makesNoCalls).map(({ name }) => name),
);

const perFarmCollectors: ReadonlySet<string> = new Set(collectors.filter(isPerFarmCollector).map(({ name }) => name));

/** Returns true for a collector whose farms fail and go stale one by one. */
export function asksFarmByFarm(collector: string): boolean {
  return perFarmCollectors.has(collector);
}

/** Returns false for a collector that makes no calls, so that its success says nothing of the appliance. */
export function asksAppliance({ name }: Pick<CollectorStatus, 'name'>): boolean {
  return !withoutCalls.has(name);
}

/** Returns when something was last read from an appliance; undefined if nothing ever was. */
export function lastReadMs({ collectors: all }: Pick<ApplianceStatus, 'collectors'>): number | undefined {
  const times = all
    .filter(asksAppliance)
    .map(({ lastSuccessMs }) => lastSuccessMs)
    .filter((each) => each !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Returns true if an appliance refuses the API key, so that nothing is read from it. */
export function refusesKey({ failing, collectors: all }: Pick<ApplianceStatus, 'collectors' | 'failing'>): boolean {
  if (failing) return failing.reason === 'unauthorized';
  return all.some(({ failure, isSupported }) => isSupported && failure?.reason === 'unauthorized');
}

export const reasonWords: Readonly<Record<Reason, string>> = {
  timeout: 'no response in time',
  connect: 'no connection',
  tls: 'its certificate is not the trusted one',
  bad_request: 'it rejects the request as malformed',
  unauthorized: 'it refuses the API key',
  unlicensed: 'it is deactivated',
  forbidden: 'the API key may not read it',
  not_found: 'not found',
  method_not_allowed: 'the method is not allowed',
  unavailable: 'it is overloaded',
  conflict: 'it reports a conflict',
  gone: 'gone',
  server_error: 'an error of the appliance',
  gateway_timeout: 'a server behind it did not respond in time',
  malformed: 'its response is malformed',
  oversize: 'its response is too large',
  cancelled: 'cancelled',
  breaker_open: 'calls are held back after failures',
  unsupported: 'it lacks what is read',
  stretched: 'postponed to limit its load',
  farms_unknown: 'its farms are not known yet',
};
