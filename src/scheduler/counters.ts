import { Counter, Histogram, Registry } from 'prom-client';
import type { CallReport } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import { counter, type Family, histogram } from '../metrics/family.ts';
import { type FilledRegistry, labelValue, optionsOf } from '../metrics/render.ts';
import type { SkipReason, Transition } from '../state/status.ts';

/** Reasons for which a series of a reading is not shown. */
export const dropReasons = ['limit', 'duplicate'] as const;

export type DropReason = (typeof dropReasons)[number];

/** Results of a tick of a collector's schedule. */
export const runOutcomes = ['success', 'failure', 'skipped'] as const;

const families = {
  runs: counter(
    'zlb_collector_runs_total',
    'Runs of a collector by outcome; skipped is a tick of its schedule without a run (this exporter).',
    ['collector', 'outcome'],
  ),
  errors: counter('zlb_collector_errors_total', 'Failed calls of a collector by reason (this exporter).', [
    'collector',
    'reason',
  ]),
  skipped: counter('zlb_collector_skipped_total', 'Ticks of a schedule without a run, by reason (this exporter).', [
    'collector',
    'reason',
  ]),
  requests: counter(
    'zlb_api_requests_total',
    'Calls to the appliance by route and status, or by reason where no answer came (this exporter).',
    ['method', 'endpoint', 'code'],
  ),
  requestDuration: histogram('zlb_api_request_duration_seconds', 'Length of calls to the appliance (this exporter).'),
  busy: counter(
    'zlb_api_busy_seconds_total',
    'Seconds that calls to the appliance lasted, by route, with its waits for hung proxies and the second in which GET /stats sleeps (this exporter).',
    ['endpoint'],
  ),
  transitions: counter('zlb_transitions_total', 'Changes of state seen between two readings (this exporter).', [
    'object',
    'to',
  ]),
  unreadable: counter(
    'zlb_api_unreadable_values_total',
    'Values in replies that could not be read and are absent, or rows that were left out for one (this exporter).',
    ['endpoint', 'field'],
  ),
  dropped: counter(
    'zlb_exporter_series_dropped_total',
    'Series left out of readings, over limits.series_per_appliance or named twice (this exporter).',
    ['reason'],
  ),
} as const;

export const counterFamilies: readonly Family[] = Object.values(families);

/** Upper bounds in seconds; with `+Inf` they are eight. */
const durationBounds = [0.05, 0.1, 0.25, 0.5, 1, 5, 20];

export type Counters = ReturnType<typeof createCounters>;

/**
 * Creates the counters of one appliance. They continue when a new configuration replaces the poller:
 * a counter never falls.
 */
export function createCounters(name: string) {
  const registry = new Registry();
  const appliance = labelValue(name, []);
  const counterOf = (family: Family): Counter => new Counter(optionsOf(family, registry));
  const runCounter = counterOf(families.runs);
  const errorCounter = counterOf(families.errors);
  const skipCounter = counterOf(families.skipped);
  const requestCounter = counterOf(families.requests);
  const busyCounter = counterOf(families.busy);
  const transitionCounter = counterOf(families.transitions);
  const unreadableCounter = counterOf(families.unreadable);
  const dropCounter = counterOf(families.dropped);
  const durations = new Histogram({ ...optionsOf(families.requestDuration, registry), buckets: durationBounds });

  for (const reason of dropReasons) dropCounter.inc({ appliance, reason }, 0);
  durations.zero({ appliance });

  return {
    /** Starts counters at 0 for what is known in advance. */
    startAtZero(collectors: readonly string[]): void {
      for (const collector of collectors)
        for (const outcome of runOutcomes) runCounter.inc({ appliance, collector, outcome }, 0);
    },
    countCall({ method, endpoint, code, seconds }: Pick<CallReport, 'method' | 'endpoint' | 'code' | 'seconds'>): void {
      requestCounter.inc({ appliance, method, endpoint, code });
      durations.observe({ appliance }, seconds);
      busyCounter.inc({ appliance, endpoint }, seconds);
    },
    countError: (collector: string, reason: FailureReason): void => errorCounter.inc({ appliance, collector, reason }),
    countRun: (collector: string, ok: boolean): void =>
      runCounter.inc({ appliance, collector, outcome: ok ? 'success' : 'failure' }),
    /** Counts a tick without a run; its reason appears with the first one. */
    countSkip(collector: string, reason: SkipReason): void {
      runCounter.inc({ appliance, collector, outcome: 'skipped' });
      skipCounter.inc({ appliance, collector, reason });
    },
    onReading(_reading: unknown, transitions: readonly Transition[]): void {
      for (const { object, to } of transitions) transitionCounter.inc({ appliance, object, to });
    },
    countUnreadable: (endpoint: string, field: string, count: number): void =>
      unreadableCounter.inc({ appliance, endpoint, field }, count),
    countDropped: (reason: DropReason, series: number): void => dropCounter.inc({ appliance, reason }, series),
    /** Returns the current counts; series of our own are not limited, and not counted. */
    current: (): FilledRegistry => ({ registry, families: counterFamilies.map((family) => ({ family, series: 0 })) }),
  };
}
