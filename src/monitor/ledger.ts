import { type BreakerState, breakerStates } from '../appliance/breaker.ts';
import type { CallReport } from '../appliance/client.ts';
import { type FailureReason, failureReasons } from '../appliance/errors.ts';
import { type TransitionObject, transitionStates } from '../collectors/collector.ts';
import { counter, type Family, gauge, histogram, stateSet } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { createDurationTally, createTally } from '../metrics/tally.ts';
import { type DropReason, dropReasons } from './shelf.ts';

/** Why a tick of a collector's schedule did not become a run. */
export const skipReasons = [
  'overlap',
  'breaker_open',
  'unlicensed',
  'unsupported',
  'stretched',
  'farms_unknown',
] as const;

export type SkipReason = (typeof skipReasons)[number];

const up = gauge(
  'zlb_up',
  '1 when the appliance gave an authenticated answer within the shortest max_stale of its collectors, or longer while intervals are stretched (any call).',
);
const breaker = stateSet(
  'zlb_circuit_breaker_state',
  'Whether calls to the appliance are let through (this exporter).',
  [],
  breakerStates,
  'state',
);
const success = gauge(
  'zlb_collector_success',
  '1 when the last run of a collector ended well; absent where the appliance lacks what it reads (this exporter).',
  ['collector'],
);
const duration = gauge(
  'zlb_collector_duration_seconds',
  'Length of the last run, waiting for its turn included (this exporter).',
  ['collector'],
);
const interval = gauge(
  'zlb_collector_interval_seconds',
  'Effective interval between runs, after stretching by max_busy_ratio (this exporter).',
  ['collector'],
);
const lastSuccess = gauge(
  'zlb_collector_last_success_timestamp_seconds',
  'Unix time at which the last good run ended (this exporter).',
  ['collector'],
);
const lastAttempt = gauge(
  'zlb_collector_last_attempt_timestamp_seconds',
  'Unix time at which the last run started (this exporter).',
  ['collector'],
);
const errors = counter('zlb_collector_errors_total', 'Failed calls of a collector by reason (this exporter).', [
  'collector',
  'reason',
]);
const skipped = counter(
  'zlb_collector_skipped_total',
  'Ticks of a schedule without a run, by reason (this exporter).',
  ['collector', 'reason'],
);
const requests = counter(
  'zlb_api_requests_total',
  'Calls to the appliance by route and status, or by reason where no answer came (this exporter).',
  ['method', 'endpoint', 'code'],
);
const requestDuration = histogram(
  'zlb_api_request_duration_seconds',
  'Length of calls to the appliance (this exporter).',
  ['endpoint'],
);
const busy = counter('zlb_api_busy_seconds_total', 'Seconds that the appliance spent on our polls (this exporter).');
const clockOffset = gauge(
  'zlb_appliance_clock_offset_seconds',
  "The appliance's clock minus ours; 0 when they agree within a second (HTTP header Date).",
);
const transitions = counter('zlb_transitions_total', 'Changes of state seen between two readings (this exporter).', [
  'object',
  'to',
]);
const series = gauge('zlb_exporter_series', 'Series held for the appliance (this exporter).');
const dropped = counter(
  'zlb_exporter_series_dropped_total',
  'Series left out of readings, over limits.series_per_appliance or named twice (this exporter).',
  ['reason'],
);

/** The families of {@link Ledger.expose}. */
export const ledgerFamilies: readonly Family[] = [
  up,
  breaker,
  success,
  duration,
  interval,
  lastSuccess,
  lastAttempt,
  errors,
  skipped,
  requests,
  requestDuration,
  busy,
  clockOffset,
  transitions,
  series,
  dropped,
];

const durationBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

export interface Attempt {
  readonly collector: string;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly ok: boolean;
}

/** What the exporter did with one appliance; all of it becomes metrics, and the state page reads it too. */
export interface Ledger {
  /** `ageMs` is when, on the clock by which `isUp` is asked. */
  called(report: CallReport, ageMs: number): void;
  attempted(attempt: Attempt): void;
  failed(collector: string, reason: FailureReason): void;
  skipped(collector: string, reason: SkipReason): void;
  /** The appliance lacks what the collector reads; it neither succeeds nor fails. */
  lacks(collector: string): void;
  stretchedTo(collector: string, intervalMs: number): void;
  transitioned(object: TransitionObject, to: string): void;
  dropped(reason: DropReason, series: number): void;
  /** Undefined until the first call came back. */
  isUp(ageMs: number): boolean | undefined;
  /** Until when it is up though nothing more comes, as far as can be told now; it takes longer to find out than to keep. */
  upUntilMs(): number;
  lastSuccessMs(collector: string): number | undefined;
  isOk(collector: string): boolean | undefined;
  expose(emit: Emit, state: { ageMs: number; breaker: BreakerState; series: number }): void;
}

interface Entry {
  ok: boolean | undefined;
  durationMs: number | undefined;
  intervalMs: number | undefined;
  lastSuccessMs: number | undefined;
  lastAttemptMs: number | undefined;
}

/** `upForMs`: how long an authenticated answer counts at present; longer once intervals are stretched, or up would blink. */
export function createLedger(options: { collectors: readonly string[]; upForMs: () => number }): Ledger {
  const entries = new Map<string, Entry>(options.collectors.map((name) => [name, emptyEntry()]));
  const perCollector = (reasons: readonly string[]) =>
    options.collectors.flatMap((collector) => reasons.map((reason) => ({ collector, reason })));
  const errorTally = createTally(errors, perCollector(failureReasons));
  const skipTally = createTally(skipped, perCollector(skipReasons));
  const requestTally = createTally(requests);
  const durationTally = createDurationTally(requestDuration, durationBounds);
  const busyTally = createTally(busy, [{}]);
  const transitionTally = createTally(
    transitions,
    Object.entries(transitionStates).flatMap(([object, states]) => states.map((to) => ({ object, to }))),
  );
  const dropTally = createTally(
    dropped,
    dropReasons.map((reason) => ({ reason })),
  );
  let answeredAtMs: number | undefined;
  let called = false;
  let offsetSeconds: number | undefined;

  const isUp = (ageMs: number): boolean | undefined =>
    called ? answeredAtMs !== undefined && ageMs - answeredAtMs < options.upForMs() : undefined;
  const change = (collector: string, changes: Partial<Entry>): void => {
    entries.set(collector, { ...(entries.get(collector) ?? emptyEntry()), ...changes });
  };

  return {
    isUp,
    upUntilMs: () => (answeredAtMs === undefined ? Number.NEGATIVE_INFINITY : answeredAtMs + options.upForMs()),
    called({ method, endpoint, code, seconds, authenticated, clockOffsetSeconds }, ageMs) {
      called = true;
      if (authenticated) answeredAtMs = ageMs;
      if (clockOffsetSeconds !== undefined) offsetSeconds = clockOffsetSeconds;
      requestTally.add({ method, endpoint, code });
      durationTally.observe({ endpoint }, seconds);
      busyTally.add({}, seconds);
    },
    attempted({ collector, startedAtMs, durationMs, ok }) {
      change(collector, {
        ok,
        durationMs,
        lastAttemptMs: startedAtMs,
        ...(ok ? { lastSuccessMs: startedAtMs + durationMs } : {}),
      });
    },
    failed: (collector, reason) => errorTally.add({ collector, reason }),
    skipped: (collector, reason) => skipTally.add({ collector, reason }),
    lacks: (collector) => change(collector, emptyEntry()),
    stretchedTo: (collector, intervalMs) => change(collector, { intervalMs }),
    transitioned: (object, to) => transitionTally.add({ object, to }),
    dropped: (reason, amount) => dropTally.add({ reason }, amount),
    lastSuccessMs: (collector) => entries.get(collector)?.lastSuccessMs,
    isOk: (collector) => entries.get(collector)?.ok,
    expose(emit, state) {
      const isUpNow = isUp(state.ageMs);
      emit.sample(up, {}, isUpNow === undefined ? null : Number(isUpNow));
      emit.state(breaker, {}, state.breaker);
      for (const [collector, entry] of entries) {
        emit.sample(success, { collector }, entry.ok === undefined ? null : Number(entry.ok));
        emit.sample(duration, { collector }, seconds(entry.durationMs));
        emit.sample(interval, { collector }, seconds(entry.intervalMs));
        emit.sample(lastSuccess, { collector }, seconds(entry.lastSuccessMs));
        emit.sample(lastAttempt, { collector }, seconds(entry.lastAttemptMs));
      }
      for (const tally of [errorTally, skipTally, requestTally, durationTally, busyTally, transitionTally, dropTally])
        tally.expose(emit);
      if (isUpNow) emit.sample(clockOffset, {}, offsetSeconds);
      emit.sample(series, {}, state.series);
    },
  };
}

function emptyEntry(): Entry {
  return {
    ok: undefined,
    durationMs: undefined,
    intervalMs: undefined,
    lastSuccessMs: undefined,
    lastAttemptMs: undefined,
  };
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1_000;
}
