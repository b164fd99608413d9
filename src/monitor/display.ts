import type { BreakerState } from '../appliance/breaker.ts';
import type { Exposition } from '../metrics/exposition.ts';
import { type Finish, store } from '../metrics/gzip.ts';
import { type Emit, renderSamples } from '../metrics/samples.ts';
import { isFarmCollector } from '../collectors/collector.ts';
import { writeReading } from '../collectors/rows.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import { totalSeries } from './series-limit.ts';
import type { Shelf } from './shelf.ts';

/** Brings what stands on the page beside the readings: our own doings, and what to say where there is no reading. */
export interface Display {
  /** The ledger changed; it is shown at the next `settle`, once for all that happened until then. */
  publish(): void;
  /** Says what a collector says without a reading, if it has none and says anything. */
  withoutReading(job: Job): void;
  /** Withholds what is too old. */
  withhold(jobs: ReadonlyMap<string, Job>, ageMs: number): void;
  /** As the ledger says, mostly without asking it. */
  isUp(ageMs: number): boolean | undefined;
  /** Whether the ledger is shown as it is. */
  isCurrent(): boolean;
  /** Brings the page up to this moment: withholds, and shows the ledger if it changed. */
  settle(jobs: ReadonlyMap<string, Job>): void;
  /** Milliseconds until something has to go though nothing new was read. */
  goodForMs(): number;
  /** Series of all but our own doings. */
  readonly series: number;
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

/** The part of the page that is about our own doings. What we count of them has parts of its own, called like metrics, as no collector is. */
const exporterPart = 'exporter';

export function createDisplay({ appliance, exposition, ledger, shelf, breakerState, age }: DisplayParts): Display {
  let shownUp: boolean | undefined;
  let isBehind = false;
  let upUntilMs = Number.NEGATIVE_INFINITY;
  /** Versions of what is counted, as it is shown, by name. */
  const shownVersions = new Map<string, number>();

  // The limit of series protects from what an appliance lists; these are few and ours.
  function show(part: string, fill: (emit: Emit) => void, finish?: Finish): void {
    const { families } = renderSamples(appliance, fill);
    exposition.show(appliance, part, families, finish);
  }

  function showLedger(ageMs: number): void {
    isBehind = false;
    shownUp = ledger.isUp(ageMs);
    upUntilMs = ledger.upUntilMs();
    const state = { ageMs, breaker: breakerState(), series: seriesHeld() };
    // Most of it is another text at each scrape.
    show(exporterPart, (emit) => ledger.expose(emit, state), store);
    for (const tally of ledger.tallies) {
      const { name } = tally;
      const version = tally.version();
      if (shownVersions.get(name) === version) continue;
      shownVersions.set(name, version);
      show(name, (emit) => tally.expose(emit));
    }
  }

  function seriesHeld(): number {
    const ownParts = [exporterPart, ...ledger.tallies.map(({ name }) => name)];
    const own = ownParts.flatMap((part) => exposition.chunks(appliance, part));
    return exposition.series(appliance) - totalSeries(own);
  }

  function isUp(ageMs: number): boolean | undefined {
    return shownUp === true && ageMs < upUntilMs ? true : ledger.isUp(ageMs);
  }

  const isCurrent = (ageMs: number): boolean => !isBehind && shownUp === isUp(ageMs);

  function withoutReading({ collector }: Job): void {
    if (isFarmCollector(collector) || collector.withoutReading === undefined || shelf.has(collector.name)) return;
    show(collector.name, writeReading(collector.families, collector.withoutReading, { compact: false }));
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
    isUp,
    isCurrent: () => isCurrent(age()),
    settle(jobs) {
      const ageMs = age();
      withhold(jobs, ageMs);
      if (!isCurrent(ageMs)) showLedger(ageMs);
    },
    get series() {
      return seriesHeld();
    },
    goodForMs() {
      const ageMs = age();
      const nextStaleMs = shelf.nextStaleMs(ageMs);
      return (shownUp ? Math.min(nextStaleMs, ledger.upUntilMs()) : nextStaleMs) - ageMs;
    },
  };
}
