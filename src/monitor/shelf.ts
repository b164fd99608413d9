import { type Exposition, toChunks } from '../metrics/exposition.ts';
import { type Emit, renderSamples } from '../metrics/samples.ts';
import { keyOf, type Origin } from './origin.ts';

/** The newest readings of one appliance, withheld once they are too old. */
export interface Shelf {
  put(origin: Origin, reading: ShelvedReading): void;
  remove(origin: Origin): void;
  /** Removes all that a collector has, and what it says without a reading. */
  clear(collector: string): void;
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
  /** What is there already. */
  readonly held: Held;
  readonly exposition: Exposition;
  readonly maxSeries: number;
  readonly onDropped: (reason: DropReason, series: number) => void;
  /** A state word outside its closed list, shown as `unknown`. */
  readonly onUnknownState: (family: string, word: string) => void;
}

export const dropReasons = ['limit', 'duplicate'] as const;

export type DropReason = (typeof dropReasons)[number];

/** What stands on the page, by {@link keyOf}. */
export type Held = Map<string, Origin & { readonly freshUntilMs: number }>;

/** Renders each reading once, when it is put, and hands the bytes to the exposition. */
export function createShelf({
  appliance,
  held,
  exposition,
  maxSeries,
  onDropped,
  onUnknownState,
}: ShelfOptions): Shelf {
  /** Earliest moment at which something expires, so that a scrape need not look at everything. */
  let nextExpiryMs = Math.min(...[...held.values()].map(({ freshUntilMs }) => freshUntilMs));

  function remove(key: string): void {
    held.delete(key);
    exposition.remove(appliance, key);
  }

  return {
    put(origin, { expose, freshUntilMs }) {
      const key = keyOf(origin);
      const room = Math.max(0, maxSeries - exposition.series(appliance, key));
      const rendered = renderSamples(appliance, room, expose);
      for (const reason of dropReasons) if (rendered.dropped[reason] > 0) onDropped(reason, rendered.dropped[reason]);
      for (const { family, word } of rendered.unknownStates) onUnknownState(family.name, word);
      exposition.put(appliance, key, toChunks(rendered.families));
      held.set(key, { ...origin, freshUntilMs });
      nextExpiryMs = Math.min(nextExpiryMs, freshUntilMs);
    },
    remove: (origin) => remove(keyOf(origin)),
    clear(collector) {
      for (const [key, origin] of held) if (origin.collector === collector) remove(key);
      exposition.remove(appliance, keyOf({ collector }));
    },
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
}
