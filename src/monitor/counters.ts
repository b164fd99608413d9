import type { CallReport } from '../appliance/client.ts';
import { type FailureReason, failureReasons } from '../appliance/errors.ts';
import { type TransitionObject, transitionStates } from '../collectors/collector.ts';
import { counter, type Family, histogram } from '../metrics/family.ts';
import { type Counted, createDurationTally, createTally, type DurationTally } from '../metrics/tally.ts';
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
const transitions = counter('zlb_transitions_total', 'Changes of state seen between two readings (this exporter).', [
  'object',
  'to',
]);
const dropped = counter(
  'zlb_exporter_series_dropped_total',
  'Series left out of readings, over limits.series_per_appliance or named twice (this exporter).',
  ['reason'],
);

/** The families of {@link Counters.tallies}. */
export const counterFamilies: readonly Family[] = [
  errors,
  skipped,
  requests,
  requestDuration,
  busy,
  transitions,
  dropped,
];

const durationBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30];

/** What was counted about one appliance. It outlives the poller when the configuration of the appliance changes: a counter never falls. */
export interface Counters {
  /** Counters start at 0 for what is known in advance. */
  expect(collectors: readonly string[]): void;
  called(report: Pick<CallReport, 'method' | 'endpoint' | 'code' | 'seconds'>): void;
  failed(collector: string, reason: FailureReason): void;
  skipped(collector: string, reason: SkipReason): void;
  transitioned(object: TransitionObject, to: string): void;
  dropped(reason: DropReason, series: number): void;
  /** One for each family, and of a histogram one for each endpoint: what moves is rendered without what stands still. */
  readonly tallies: readonly Counted[];
}

export function createCounters(): Counters {
  const collectors = new Set<string>();
  function* ofCollectors<Reason extends string>(reasons: readonly Reason[]) {
    for (const collector of collectors) for (const reason of reasons) yield { collector, reason };
  }
  const errorTally = createTally(errors, () => ofCollectors(failureReasons));
  const skipTally = createTally(skipped, () => ofCollectors(skipReasons));
  const requestTally = createTally(requests);
  const durationTallies = new Map<string, DurationTally>();
  const busyTally = createTally(busy, () => [{}]);
  const transitionTally = createTally(transitions, () =>
    Object.entries(transitionStates).flatMap(([object, states]) => states.map((to) => ({ object, to }))),
  );
  const dropTally = createTally(dropped, () => dropReasons.map((reason) => ({ reason })));

  const durationOf = (endpoint: string): DurationTally => {
    const tally = durationTallies.get(endpoint) ?? createDurationTally(requestDuration, { endpoint }, durationBounds);
    durationTallies.set(endpoint, tally);
    return tally;
  };

  return {
    expect(others) {
      for (const collector of others) collectors.add(collector);
    },
    called({ method, endpoint, code, seconds }) {
      requestTally.add({ method, endpoint, code });
      durationOf(endpoint).observe(seconds);
      busyTally.add({}, seconds);
    },
    failed: (collector, reason) => errorTally.add({ collector, reason }),
    skipped: (collector, reason) => skipTally.add({ collector, reason }),
    transitioned: (object, to) => transitionTally.add({ object, to }),
    dropped: (reason, series) => dropTally.add({ reason }, series),
    get tallies() {
      const ofEndpoints = durationTallies.values();
      return [errorTally, skipTally, requestTally, busyTally, transitionTally, dropTally, ...ofEndpoints];
    },
  };
}
