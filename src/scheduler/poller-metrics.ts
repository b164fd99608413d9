import { type BreakerState, breakerStates } from '../appliance/breaker.ts';
import type { Validity } from '../appliance/connection.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { ReadingFamily } from '../collectors/collector.ts';
import { rowsOf } from '../collectors/rows.ts';
import type { Family } from '../metrics/family.ts';
import { counterFamilies } from './counters.ts';
import type { LastRun } from './job.ts';

/** The exporter's own gauges for one appliance. */
export interface PollerMetrics {
  readonly up: boolean | undefined;
  readonly failureReason: FailureReason | undefined;
  readonly breaker: BreakerState;
  readonly collectors: readonly (LastRun & {
    readonly collector: string;
    /** The measured time between two runs. */
    readonly intervalMs: number | undefined;
    /** The time in which each farm is read once; undefined if it does not ask farm by farm. */
    readonly roundMs: number | undefined;
  })[];
  readonly clockOffsetSeconds: number | undefined;
  readonly certificate?: Validity | undefined;
  readonly series: number;
}

const applianceRows = rowsOf((numbers: PollerMetrics) => [numbers], {});
const failureRows = rowsOf(({ failureReason }: PollerMetrics) => (failureReason ? [failureReason] : []), {});
const collectorRows = rowsOf(({ collectors }: PollerMetrics) => collectors, {
  collector: ({ collector }) => collector,
});

export const pollerGauges: readonly ReadingFamily<PollerMetrics>[] = [
  applianceRows.gauge(
    'zlb_up',
    '1 while the appliance answers, and accepted the key within the shortest max_stale of its collectors (any call).',
    ({ up }) => up,
  ),
  failureRows.info(
    'zlb_appliance_failure_info',
    'Why the newest call failed, also if the circuit breaker made it; absent when it succeeded. That the API lacks an object or a route is not a failure (this exporter).',
    { reason: (reason) => reason },
  ),
  applianceRows.stateSet(
    'zlb_circuit_breaker_state',
    'Whether calls to the appliance are let through (this exporter).',
    breakerStates,
    ({ breaker }) => breaker,
    'state',
  ),
  collectorRows.gauge(
    'zlb_collector_success',
    '1 when the last run of a collector ended well; absent where the appliance lacks what it reads (this exporter).',
    ({ ok }) => ok,
  ),
  collectorRows.gauge(
    'zlb_collector_duration_seconds',
    'Length of the last run, waiting for its turn included (this exporter).',
    ({ durationMs }) => seconds(durationMs),
  ),
  collectorRows.gauge(
    'zlb_collector_interval_seconds',
    'Time from the last scheduled run to the next, after stretching by max_busy_ratio (this exporter).',
    ({ intervalMs }) => seconds(intervalMs),
  ),
  collectorRows.gauge(
    'zlb_collector_round_seconds',
    'Time in which a collector that asks farm by farm reads each farm once, after stretching by routine_busy_ratio (this exporter).',
    ({ roundMs }) => seconds(roundMs),
  ),
  collectorRows.gauge(
    'zlb_collector_last_success_timestamp_seconds',
    'Unix time at which the last good run ended (this exporter).',
    ({ lastSuccessMs }) => seconds(lastSuccessMs),
  ),
  collectorRows.gauge(
    'zlb_collector_last_attempt_timestamp_seconds',
    'Unix time at which the last run started (this exporter).',
    ({ lastAttemptMs }) => seconds(lastAttemptMs),
  ),
  applianceRows.gauge(
    'zlb_appliance_clock_offset_seconds',
    "The appliance's clock minus ours; 0 when they agree within a second (HTTP header Date).",
    ({ clockOffsetSeconds }) => clockOffsetSeconds,
  ),
  applianceRows.gauge(
    'zlb_api_certificate_not_after_timestamp_seconds',
    'Unix time at which the certificate of the API expires, as the last connection showed it; stays while the appliance is away (TLS).',
    ({ certificate }) => certificate?.notAfterSeconds,
  ),
  applianceRows.gauge(
    'zlb_api_certificate_not_before_timestamp_seconds',
    'Unix time at which the life of that certificate began (TLS).',
    ({ certificate }) => certificate?.notBeforeSeconds,
  ),
  applianceRows.gauge('zlb_exporter_series', 'Series held for the appliance (this exporter).', ({ series }) => series),
];

export const pollerFamilies: readonly Family[] = [...pollerGauges.map(({ family }) => family), ...counterFamilies];

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1_000;
}
