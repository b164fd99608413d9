import type { BreakerState } from '../appliance/breaker.ts';
import { type Exposition, toChunks } from '../metrics/exposition.ts';
import { type Emit, renderSamples } from '../metrics/samples.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { Shelf } from './shelf.ts';

/** Brings what stands on the page beside the readings: our own doings, and what to say where there is no reading. */
export interface Display {
  /** Shows the ledger as it is now. */
  publish(): void;
  /** Says what a collector says without a reading, if it has none and says anything. */
  withoutReading(job: Job): void;
  /** Withholds what is too old at this moment. */
  settle(jobs: ReadonlyMap<string, Job>): void;
}

export interface DisplayParts {
  readonly appliance: string;
  readonly exposition: Exposition;
  readonly ledger: Ledger;
  readonly shelf: Shelf;
  readonly breakerState: () => BreakerState;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

/** The part of the page that is about our own doings. */
const exporterPart = 'exporter';

export function createDisplay({ appliance, exposition, ledger, shelf, breakerState, age }: DisplayParts): Display {
  let shownUp: boolean | undefined;

  // The limit of series protects from what an appliance lists; these are few and ours.
  function show(part: string, fill: (emit: Emit) => void): void {
    exposition.put(appliance, part, toChunks(renderSamples(appliance, fill).families));
  }

  function publish(): void {
    const ageMs = age();
    shownUp = ledger.isUp(ageMs);
    const state = { ageMs, breaker: breakerState(), series: exposition.series(appliance, exporterPart) };
    show(exporterPart, (emit) => ledger.expose(emit, state));
  }

  function withoutReading({ collector }: Job): void {
    if (isFarmCollector(collector) || !collector.withoutReading || shelf.has(collector.name)) return;
    show(collector.name, collector.withoutReading);
  }

  return {
    publish,
    withoutReading,
    settle(jobs) {
      const losers = shelf.expire(age());
      for (const loser of losers) {
        const job = jobs.get(loser);
        if (job) withoutReading(job);
      }
      if (losers.size > 0 || shownUp !== ledger.isUp(age())) publish();
    },
  };
}
