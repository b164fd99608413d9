import { type BreakerState, breakerStates } from '../appliance/breaker.ts';
import type { CallReport } from '../appliance/client.ts';
import type { ReadingFamily } from '../collectors/collector.ts';
import { rowsOf } from '../collectors/rows.ts';
import type { Family } from '../metrics/family.ts';
import { type Counters, counterFamilies } from './counters.ts';

/** The numbers of the exporter's work on one appliance that are not counters, at one moment. */
export interface OwnNumbers {
  readonly up: boolean | undefined;
  readonly breaker: BreakerState;
  readonly collectors: readonly (Entry & { readonly collector: string })[];
  readonly clockOffsetSeconds: number | undefined;
  readonly series: number;
}

const ofAppliance = rowsOf((numbers: OwnNumbers) => [numbers], {});
const ofCollectors = rowsOf(({ collectors }: OwnNumbers) => collectors, { collector: ({ collector }) => collector });

export const ownGauges: readonly ReadingFamily<OwnNumbers>[] = [
  ofAppliance.gauge(
    'zlb_up',
    '1 while the appliance answers, and accepted the key within the shortest max_stale of its collectors (any call).',
    ({ up }) => up,
  ),
  ofAppliance.stateSet(
    'zlb_circuit_breaker_state',
    'Whether calls to the appliance are let through (this exporter).',
    breakerStates,
    ({ breaker }) => breaker,
    'state',
  ),
  ofCollectors.gauge(
    'zlb_collector_success',
    '1 when the last run of a collector ended well; absent where the appliance lacks what it reads (this exporter).',
    ({ ok }) => ok,
  ),
  ofCollectors.gauge(
    'zlb_collector_duration_seconds',
    'Length of the last run, waiting for its turn included (this exporter).',
    ({ durationMs }) => seconds(durationMs),
  ),
  ofCollectors.gauge(
    'zlb_collector_interval_seconds',
    'Time from the last scheduled run to the next, after stretching by max_busy_ratio (this exporter).',
    ({ intervalMs }) => seconds(intervalMs),
  ),
  ofCollectors.gauge(
    'zlb_collector_last_success_timestamp_seconds',
    'Unix time at which the last good run ended (this exporter).',
    ({ lastSuccessMs }) => seconds(lastSuccessMs),
  ),
  ofCollectors.gauge(
    'zlb_collector_last_attempt_timestamp_seconds',
    'Unix time at which the last run started (this exporter).',
    ({ lastAttemptMs }) => seconds(lastAttemptMs),
  ),
  ofAppliance.gauge(
    'zlb_appliance_clock_offset_seconds',
    "The appliance's clock minus ours; 0 when they agree within a second (HTTP header Date).",
    ({ clockOffsetSeconds }) => clockOffsetSeconds,
  ),
  ofAppliance.gauge('zlb_exporter_series', 'Series held for the appliance (this exporter).', ({ series }) => series),
];

/** All families of the exporter's work on one appliance. */
export const ownFamilies: readonly Family[] = [...ownGauges.map(({ family }) => family), ...counterFamilies];

export interface Attempt {
  readonly collector: string;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly ok: boolean;
}

/** The last observations of a collector, as far as there are any. */
interface Entry {
  readonly ok?: boolean;
  readonly durationMs?: number;
  readonly intervalMs?: number;
  readonly lastSuccessMs?: number;
  readonly lastAttemptMs?: number;
}

/** The last observations of an appliance; a poller that replaces another continues with them. */
export interface CollectorStatisticsState {
  readonly entries: Map<string, Entry>;
  /** The time of the last answer, on the clock of `isUp`. */
  answeredAtMs: number | undefined;
  called: boolean;
  offsetSeconds: number | undefined;
}

export type CollectorStatistics = ReturnType<typeof createCollectorStatistics>;

/**
 * Keeps the statistics of the exporter's work on one appliance; all of them become metrics, and the
 * status page reads them too.
 */
export function createCollectorStatistics(options: {
  readonly collectors: readonly string[];
  readonly counters: Counters;
  readonly before?: CollectorStatisticsState | undefined;
  /**
   * The time for which an authenticated answer counts; late runs extend it, so that
   * `zlb_up` does not alternate.
   */
  readonly upForMs: () => number;
  /** False while calls fail, or wait far longer than calls do. */
  readonly isAnswering: () => boolean;
}) {
  const { collectors, counters, before } = options;
  counters.expect(collectors);
  const state: CollectorStatisticsState = {
    answeredAtMs: undefined,
    called: false,
    offsetSeconds: undefined,
    ...before,
    entries: new Map(collectors.map((name) => [name, before?.entries.get(name) ?? {}])),
  };
  const { entries } = state;

  /** Returns whether a recent answer had the right key; undefined before the first answer. */
  const hasAnswered = (ageMs: number): boolean | undefined =>
    state.called ? state.answeredAtMs !== undefined && ageMs - state.answeredAtMs < options.upForMs() : undefined;
  /** Returns the value of `zlb_up`: that, and true at this moment. */
  const isUp = (ageMs: number): boolean | undefined => hasAnswered(ageMs) && options.isAnswering();
  const change = (collector: string, changes: Entry): void => {
    entries.set(collector, { ...entries.get(collector), ...changes });
  };

  return {
    state,
    hasAnswered,
    isUp,
    /** Records a call; `ageMs` is its time on the clock of `isUp`. */
    called(report: CallReport, ageMs: number): void {
      const { authenticated, clockOffsetSeconds } = report;
      state.called = true;
      if (authenticated) state.answeredAtMs = ageMs;
      if (clockOffsetSeconds !== undefined) state.offsetSeconds = clockOffsetSeconds;
      counters.called(report);
    },
    attempted({ collector, startedAtMs, durationMs, ok }: Attempt): void {
      counters.ended(collector, ok);
      change(collector, {
        ok,
        durationMs,
        lastAttemptMs: startedAtMs,
        ...(ok ? { lastSuccessMs: startedAtMs + durationMs } : {}),
      });
    },
    /** Records that the appliance lacks what the collector reads; it neither succeeds nor fails. */
    unsupported: (collector: string): void => void entries.set(collector, {}),
    /** Records the time between two runs; returns true if it is another one than before. */
    intervalIs(collector: string, intervalMs: number): boolean {
      if (entries.get(collector)?.intervalMs === intervalMs) return false;
      change(collector, { intervalMs });
      return true;
    },
    /** Returns what {@link ownGauges} show. */
    numbers(ageMs: number, others: Pick<OwnNumbers, 'breaker' | 'series'>): OwnNumbers {
      const up = isUp(ageMs);
      return {
        ...others,
        up,
        collectors: [...entries].map(([collector, entry]) => ({ collector, ...entry })),
        clockOffsetSeconds: up ? state.offsetSeconds : undefined,
      };
    },
  };
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1_000;
}
