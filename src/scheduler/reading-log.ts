import type { Logger } from 'pino';
import { TokenBuckets } from '../lib/token-bucket.ts';
import type { StateListener } from '../state/appliance-state.ts';
import type { NewReading } from '../state/reading.ts';
import type { Transition } from '../state/status.ts';
import type { DropReason } from './counters.ts';

/** An appliance that invents a new word at every poll must not fill the memory or the log. */
const maxWords = 100;

/**
 * Lines of the log about states, at once and as many a minute: an appliance that changes all of its
 * states at each poll must neither stop the loop nor fill a disk.
 */
export const statesPerMinute = 1_000;
const stateLines = 'states';

/** Logs changes of state, and once each what the page does not show as it was read. */
export class ReadingLog implements StateListener {
  readonly #log: Logger;
  readonly #words = new Set<string>();
  readonly #dropped = new Set<DropReason>();
  readonly #states = TokenBuckets.perMinute(statesPerMinute);

  constructor(log: Logger) {
    this.#log = log;
  }

  onReading({ collector, farm }: NewReading, transitions: readonly Transition[]): void {
    const changes = transitions.length;
    const logged = Math.min(changes, Math.floor(this.#states.left(stateLines)));
    this.#states.take(stateLines, logged);
    for (const { object, labels, from, to } of transitions.slice(0, logged))
      this.#log.info({ object, ...labels, from, to }, 'state changed');
    if (changes > logged)
      this.#log.info(
        { collector: collector.name, farm, changes, logged },
        'more states changed than are logged one by one',
      );
  }

  logDropped(reason: DropReason, series: number): void {
    if (this.#dropped.has(reason)) return;
    this.#dropped.add(reason);
    const remedy =
      reason === 'limit'
        ? 'set compact for this appliance, raise limits.series_per_appliance, or leave farms out with farms.exclude'
        : 'the appliance names something twice';
    this.#log.warn({ reason, series, remedy }, 'series are left out of /metrics');
  }

  logUnknownState(family: string, longWord: string): void {
    const word = longWord.slice(0, 64);
    const key = `${family} ${word}`;
    if (this.#words.has(key) || this.#words.size >= maxWords) return;
    this.#words.add(key);
    this.#log.warn({ family, word }, 'status not known to this exporter, shown as unknown');
  }
}
