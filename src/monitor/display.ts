import type { BreakerState } from '../appliance/breaker.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import { fillRegistry } from '../metrics/render.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { Counters } from './counters.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { Shelf } from './shelf.ts';

/** Puts into the store what is no reading: the exporter's own numbers, and what a collector says without a reading. */
export interface Display {
  /** Notes that the ledger or the counters changed; the next refresh shows it. */
  publish(): void;
  /** Shows what a collector says without a reading, if it has no reading and says anything. */
  withoutReading(job: Job): void;
  /** Removes what is too old. */
  withhold(jobs: ReadonlyMap<string, Job>, ageMs: number): void;
  /** `zlb_up`; undefined until the first call came back. */
  isUp(ageMs: number): boolean | undefined;
  /** Refreshes `zlb_up` if it changed, so that fresh samples never appear next to `zlb_up 0`, and all else that was published. */
  refresh(): void;
  /** Removes what is too old and refreshes the rest: afterwards the store has what is true now. */
  expire(jobs: ReadonlyMap<string, Job>): void;
  /** Series of the appliance without the exporter's own. */
  readonly series: number;
}

export interface DisplayParts {
  readonly appliance: string;
  readonly store: MetricsStore;
  readonly ledger: Ledger;
  readonly counters: Counters;
  readonly shelf: Shelf;
  readonly breakerState: () => BreakerState;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

/** Keys of the exporter's own numbers in the store. */
const ownKeys = { gauges: 'exporter', counters: 'exporter counters' } as const;

export function createDisplay(parts: DisplayParts): Display {
  const { appliance, store, ledger, counters, shelf, breakerState, age } = parts;
  let shownUp: boolean | undefined;
  let isBehind = false;

  function refresh(): void {
    const ageMs = age();
    const up = ledger.isUp(ageMs);
    if (!isBehind && up === shownUp) return;
    isBehind = false;
    shownUp = up;
    const state = { ageMs, breaker: breakerState(), series: seriesHeld() };
    store.put(appliance, ownKeys.counters, counters.reading());
    store.put(
      appliance,
      ownKeys.gauges,
      fillRegistry(appliance, (emit) => ledger.expose(emit, state)),
    );
  }

  function seriesHeld(): number {
    return store.series(appliance, Object.values(ownKeys));
  }

  function withoutReading({ collector }: Job): void {
    if (isFarmCollector(collector) || collector.withoutReading === undefined || shelf.has(collector.name)) return;
    const write = writeReading(collector.families, collector.withoutReading, { compact: false });
    store.put(appliance, collector.name, fillRegistry(appliance, write));
  }

  function withhold(jobs: ReadonlyMap<string, Job>, ageMs: number): void {
    for (const loser of shelf.expire(ageMs)) {
      isBehind = true;
      const job = jobs.get(loser);
      if (!job) continue;
      // However far its schedule is stretched, it is read again as soon as the appliance answers.
      job.missed = true;
      withoutReading(job);
    }
  }

  return {
    publish() {
      isBehind = true;
    },
    withoutReading,
    withhold,
    isUp: (ageMs) => ledger.isUp(ageMs),
    refresh,
    expire(jobs) {
      withhold(jobs, age());
      refresh();
    },
    get series() {
      return seriesHeld();
    },
  };
}
