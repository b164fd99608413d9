import type { ApplianceStatus, CollectorStatus } from '../../monitor/status.ts';
import type { Severity } from './severity.ts';

/**
 * `late`: its turn is overdue. `stale`: withheld for its age. `failing`: the last run failed, what
 * is shown is older. `waiting`: its first run is not over. `lacking`: the appliance does not have
 * what it reads.
 */
export type Freshness = 'fresh' | 'late' | 'failing' | 'stale' | 'waiting' | 'lacking';

/** Allowance beyond two intervals for a round over many farms, its jitter and a short queue. */
const graceMs = 10_000;

export function freshnessOf(collector: CollectorStatus, nowMs: number): Freshness {
  const { ok, isSupported, isStale, failure, lastSuccessMs, intervalMs } = collector;
  if (!isSupported) return 'lacking';
  if (isStale) return 'stale';
  if (ok === false || failure) return 'failing';
  if (ok === undefined || lastSuccessMs === undefined) return 'waiting';
  return nowMs - lastSuccessMs > 2 * intervalMs + graceMs ? 'late' : 'fresh';
}

export const freshnessLevels: Readonly<Record<Freshness, Severity>> = {
  fresh: 'well',
  late: 'unknown',
  failing: 'warning',
  stale: 'critical',
  waiting: 'unknown',
  lacking: 'paused',
};

/** Returns true if a reading is as fresh as it can be. */
export function isAsItShould(freshness: Freshness): boolean {
  return freshness === 'fresh' || freshness === 'lacking';
}

/**
 * Stricter than `zlb_up`, which stays for as long as what an appliance said last is shown: calls to
 * it go through.
 */
export function isAnswering({ up, breaker }: Pick<ApplianceStatus, 'up' | 'breaker'>): boolean {
  return up === true && breaker === 'closed';
}
