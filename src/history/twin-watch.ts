import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Family, gauge } from '../metrics/family.ts';
import { fillRegistry } from '../metrics/render.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { StateListener } from '../state/appliance-state.ts';
import { compareTwins, type Readings, fromTwinsSide, type TwinComparison, twinKinds } from './twins.ts';

const pairs = gauge(
  'zlb_twins_info',
  'A pair of twins; `appliance` is the first of the two in the configuration (this exporter).',
  ['twin'],
);
const differing = gauge(
  'zlb_twin_differences',
  'Differences between the configurations of twins; absent while one does not answer, or while the kind of objects is not read from both, such as farms if both have an L4 farm (this exporter).',
  ['twin', 'object'],
);

export const twinFamilies: readonly Family[] = [pairs, differing];

export interface TwinWatchParts {
  readonly store: Pick<MetricsStore, 'put' | 'remove'>;
  /** Returns the fresh readings of an appliance; undefined while it does not answer. */
  readonly readingsOf: (appliance: string) => Readings | undefined;
}

/** The twin of an appliance, and their comparison; undefined while it is not known. */
export interface TwinStatus {
  readonly name: string;
  readonly comparison: TwinComparison | undefined;
}

interface Pair {
  readonly first: string;
  readonly twin: string;
  comparison: TwinComparison | undefined;
  /** The same with both sides swapped. */
  fromTwin: TwinComparison | undefined;
  /** True if something was read since the last comparison. */
  isDirty: boolean;
  /** A comparison under way is discarded if this number changes. */
  withdrawals: number;
}

const storeKey = 'twins';
/** A pair is compared at most once in this time. */
const intervalMs = 60_000;
/** The first comparison follows a start or a reload after this time, when most is read. */
const firstAfterMs = 5_000;

/** Compares twins while both answer, and publishes the differences. */
export class TwinWatch {
  readonly #parts: TwinWatchParts;
  readonly #pairs = new Map<string, Pair>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: TwinWatchParts) {
    this.#parts = parts;
  }

  /** Sets the pairs; called after each change of settings. */
  watch(twins: readonly (readonly string[])[]): void {
    for (const name of this.#pairs.keys()) this.#parts.store.remove(name, storeKey);
    this.#pairs.clear();
    for (const [first = '', twin = ''] of twins) {
      const pair = { first, twin, comparison: undefined, fromTwin: undefined, isDirty: true, withdrawals: 0 };
      for (const name of [first, twin]) this.#pairs.set(name, pair);
      this.#publish(pair);
    }
    clearTimeout(this.#timer);
    this.#schedule(firstAfterMs);
  }

  listenerOf(appliance: string): StateListener {
    return {
      onReading: ({ collector }) => {
        const pair = collector.configuredObjects && this.#pairs.get(appliance);
        if (pair) pair.isDirty = true;
      },
      onRemoved: (_, why) => {
        if (why === 'stale') this.#withdraw(appliance);
      },
      onAnswering: (isUp) => {
        if (!isUp) this.#withdraw(appliance);
      },
    };
  }

  twinOf(appliance: string): TwinStatus | undefined {
    const pair = this.#pairs.get(appliance);
    if (!pair) return undefined;
    const { first, twin, comparison, fromTwin } = pair;
    return appliance === first ? { name: twin, comparison } : { name: first, comparison: fromTwin };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#pairs.clear();
  }

  #schedule(afterMs: number): void {
    if (this.#pairs.size > 0) this.#timer = setTimeout(() => void this.#compare(), afterMs).unref();
  }

  async #compare(): Promise<void> {
    const timer = this.#timer;
    for (const pair of new Set(this.#pairs.values())) {
      if (!pair.isDirty || this.#pairs.get(pair.first) !== pair) continue;
      const { withdrawals } = pair;
      const [here, there] = [this.#parts.readingsOf(pair.first), this.#parts.readingsOf(pair.twin)];
      // Readings from now on need another comparison.
      pair.isDirty = !here || !there;
      const comparison = here && there && (await compareTwins(here, there));
      if (pair.withdrawals !== withdrawals || this.#pairs.get(pair.first) !== pair) continue;
      pair.comparison = comparison;
      pair.fromTwin = comparison && fromTwinsSide(comparison);
      this.#publish(pair);
      await yieldToEventLoop();
    }
    // A call of `watch` meanwhile has set its own timer.
    if (this.#timer === timer) this.#schedule(intervalMs);
  }

  /** Withdraws the comparison: a reading is too old, or one of the two does not answer. */
  #withdraw(appliance: string): void {
    const pair = this.#pairs.get(appliance);
    if (!pair) return;
    pair.isDirty = true;
    pair.withdrawals += 1;
    if (!pair.comparison) return;
    pair.comparison = undefined;
    pair.fromTwin = undefined;
    this.#publish(pair);
  }

  #publish(pair: Pair): void {
    for (const appliance of [pair.first, pair.twin]) {
      const { name: twin, comparison } = this.twinOf(appliance) ?? { name: '', comparison: undefined };
      const filled = fillRegistry(appliance, (emit) => {
        if (appliance === pair.first) emit.sample(pairs, { twin }, 1);
        for (const object of comparison ? twinKinds : []) {
          const count = comparison?.differences.filter((each) => each.object === object).length ?? 0;
          if (count > 0 || !comparison?.unknown.has(object)) emit.sample(differing, { twin, object }, count);
        }
      });
      this.#parts.store.put(appliance, storeKey, filled);
    }
  }
}
