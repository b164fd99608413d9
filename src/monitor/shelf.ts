import { type Chunk, type Exposition, toChunks } from '../metrics/exposition.ts';
import { type Emit, renderSamples } from '../metrics/samples.ts';
import { keyOf, type Origin } from './origin.ts';
import { type Allotment, allotDetails, fitting, roomForDetails, totalSeries, type Wish } from './series-limit.ts';

/** The newest readings of one appliance, withheld once they are too old. */
export interface Shelf {
  put(origin: Origin, reading: ShelvedReading): void;
  remove(origin: Origin): void;
  has(collector: string): boolean;
  /** Removes what is past its time at `ageMs`; returns the collectors that lost something. */
  expire(ageMs: number): ReadonlySet<string>;
}

export interface ShelvedReading {
  readonly expose: (emit: Emit) => void;
  /** Until when the samples may be shown, on the clock of lib/age-clock.ts. */
  readonly freshUntilMs: number;
}

export interface ShelfOptions {
  readonly appliance: string;
  readonly exposition: Exposition;
  readonly maxSeries: number;
  readonly onDropped: (reason: DropReason, series: number) => void;
  /** A state word outside its closed list, shown as `unknown`. */
  readonly onUnknownState: (family: string, word: string) => void;
}

export const dropReasons = ['limit', 'duplicate'] as const;

export type DropReason = (typeof dropReasons)[number];

interface Held extends Origin {
  readonly freshUntilMs: number;
  readonly aggregates: readonly Chunk[];
  /** The details that are shown, and all those that the reading had. */
  readonly details: readonly Chunk[];
  readonly wishes: readonly Wish[];
}

/** Renders each reading once, when it is put, and hands the bytes to the exposition. */
export function createShelf({ appliance, exposition, maxSeries, onDropped, onUnknownState }: ShelfOptions): Shelf {
  const held = new Map<string, Held>();
  /** Earliest moment at which something expires, so that a scrape need not look at everything. */
  let nextExpiryMs = Number.POSITIVE_INFINITY;

  function remove(key: string): void {
    held.delete(key);
    exposition.remove(appliance, key);
  }

  function show(key: string, part: Held): void {
    held.set(key, part);
    exposition.put(appliance, key, [...part.aggregates, ...part.details]);
  }

  /** Takes those details off the page that have to give way to what another part shows now. */
  function takeBack(allotted: Allotment): void {
    for (const [key, part] of held) {
      const details = part.details.filter(({ family }) => allotted.allows(key, family));
      if (details.length === part.details.length) continue;
      onDropped('limit', totalSeries(part.details) - totalSeries(details));
      show(key, { ...part, details });
    }
  }

  return {
    put(origin, { expose, freshUntilMs }) {
      const key = keyOf(origin);
      const { families, duplicates, unknownStates } = renderSamples(appliance, expose);
      const wishes = families.flatMap(({ family, series }) => (family.detail ? [{ family, series }] : []));
      const others = aggregatesBeside(key);
      const aggregates = fitting(
        families.filter(({ family }) => !family.detail),
        maxSeries - others,
      );
      held.set(key, { ...origin, freshUntilMs, aggregates: [], details: [], wishes });
      const allotted = allotDetails(held, roomForDetails(maxSeries, others + totalSeries(aggregates)));
      const details = families.filter(({ family }) => family.detail && allotted.allows(key, family));
      takeBack(allotted);
      show(key, { ...origin, freshUntilMs, aggregates: toChunks(aggregates), details: toChunks(details), wishes });
      nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs);

      const beyond = totalSeries(families) - totalSeries(aggregates) - totalSeries(details);
      if (beyond > 0) onDropped('limit', beyond);
      if (duplicates > 0) onDropped('duplicate', duplicates);
      for (const { family, word } of unknownStates) onUnknownState(family.name, word);
    },
    remove: (origin) => remove(keyOf(origin)),
    has: (collector) => held.has(keyOf({ collector })),
    expire(ageMs) {
      const losers = new Set<string>();
      if (ageMs < nextExpiryMs) return losers;
      nextExpiryMs = Number.POSITIVE_INFINITY;
      for (const [key, { collector, freshUntilMs }] of held) {
        if (freshUntilMs > ageMs) {
          nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs);
          continue;
        }
        remove(key);
        losers.add(collector);
      }
      return losers;
    },
  };

  function aggregatesBeside(key: string): number {
    let series = 0;
    for (const [each, { aggregates }] of held) if (each !== key) series += totalSeries(aggregates);
    return series;
  }
}
