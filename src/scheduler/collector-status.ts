import type { Breaker } from '../appliance/breaker.ts';
import type { CollectorFailure, CollectorStatus } from '../state/status.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';

interface Sources {
  readonly failures: FailureLog;
  readonly breaker: Breaker;
  /** Collectors with a stale reading. */
  readonly stale: ReadonlySet<string>;
}

/** Describes one collector of an appliance for people. */
export function describeCollector(job: Job, sources: Sources): CollectorStatus {
  const { failures, stale } = sources;
  const { name } = job.collector;
  const { ok, lastSuccessMs, intervalMs = job.intervalMs } = job.last;
  const isSupported = job.retryAtMs === undefined;
  const unreadable = failures.unreadableOf(name);
  return {
    name,
    ok,
    lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
    intervalMs,
    isStale: stale.has(name),
    isSupported,
    failure: isSupported ? failureOf(job, sources) : undefined,
    ...(unreadable.length > 0 && { unreadable }),
  };
}

/** Returns the newest failure; while calls are held back, with the reason for that. */
function failureOf({ collector, blocked }: Job, { failures, breaker }: Sources): CollectorFailure | undefined {
  const failure = failures.trouble(collector.name) ?? blocked;
  const { reason } = breaker;
  return failure && blocked?.reason === 'breaker_open' && reason ? { ...failure, reason } : failure;
}
