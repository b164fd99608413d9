import type { Logger } from 'pino';
import { TokenBuckets } from '../lib/token-bucket.ts';
import type { UnreadableField } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { DropReason } from './counters.ts';
import type { NewReading, StateListener } from '../state/appliance-state.ts';
import { readingKey, type Origin } from '../state/reading.ts';
import type { Transition } from '../state/status.ts';

/** An appliance that invents a new word at every poll must not fill the memory or the log. */
const maxWords = 100;

/**
 * Lines of the log about states, at once and as many a minute: an appliance that changes all of its
 * states at each poll must neither stop the loop nor fill a disk.
 */
export const statesPerMinute = 1_000;
const stateLines = 'states';

/**
 * Failing parts of one collector: two hundred farms that fail alike are one line, and the error
 * counter has the number.
 */
interface Trouble {
  readonly origins: Set<string>;
  /** Reasons that were logged. */
  readonly reasons: Set<FailureReason>;
  reason: FailureReason;
  readonly sinceMs: number;
}

/**
 * Logs changes of state, and each trouble of a collector once: at its first occurrence, when
 * another reason comes, and when all of it is over.
 */
export class FailureLog implements StateListener {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #failing = new Map<string, Trouble>();
  /** Holds the values of the newest replies that could not be read, by origin. */
  readonly #unreadable = new Map<string, { readonly origin: Origin; readonly found: readonly UnreadableField[] }>();
  readonly #words = new Set<string>();
  readonly #dropped = new Set<DropReason>();
  readonly #states = TokenBuckets.perMinute(statesPerMinute);

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  failed(origin: Origin, reason: FailureReason, error: Error): void {
    const trouble = this.#failing.get(origin.collector) ?? {
      origins: new Set(),
      reasons: new Set(),
      reason,
      sinceMs: this.#now(),
    };
    this.#failing.set(origin.collector, trouble);
    trouble.reason = reason;
    trouble.origins.add(readingKey(origin));
    if (trouble.reasons.has(reason)) return;
    trouble.reasons.add(reason);
    this.#log.warn({ ...origin, reason, because: error.message }, 'poll failed');
  }

  unsupported(collector: string, error: Error): void {
    this.#log.info(
      { collector, because: error.message },
      'appliance does not have what this collector reads, left out for an hour or until its version changes',
    );
  }

  recovered(origin: Origin): void {
    if (this.#endTrouble(origin)) this.#log.info({ ...origin }, 'poll succeeds again');
  }

  /** Logs the changes of state that a reading shows. */
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

  /** Forgets an origin that is gone, which neither fails nor recovers. */
  onRemoved(origin: Origin, why: 'stale' | 'gone'): void {
    if (why === 'stale') return;
    this.#endTrouble(origin);
    this.#unreadable.delete(readingKey(origin));
  }

  /** Returns true if it was the last origin that failed. */
  #endTrouble(origin: Origin): boolean {
    const trouble = this.#failing.get(origin.collector);
    const wasLast = trouble?.origins.delete(readingKey(origin)) === true && trouble.origins.size === 0;
    if (wasLast) this.#failing.delete(origin.collector);
    return wasLast;
  }

  /** Keeps what could not be read in the newest replies; logs each field of a collector once. */
  unreadable(origin: Origin, found: readonly UnreadableField[]): void {
    const known = this.unreadableOf(origin.collector);
    if (found.length === 0) this.#unreadable.delete(readingKey(origin));
    else this.#unreadable.set(readingKey(origin), { origin, found });
    for (const { endpoint, field, count, example } of found) {
      if (known.some((each) => each.endpoint === endpoint && each.field === field)) continue;
      this.#log.warn({ ...origin, endpoint, field, count, example }, 'values in a reply cannot be read, left out');
    }
  }

  /** Returns the fields of which the newest replies had values that could not be read. */
  unreadableOf(collector: string): readonly UnreadableField[] {
    const sums = new Map<string, UnreadableField>();
    for (const { origin, found } of this.#unreadable.values()) {
      if (origin.collector !== collector) continue;
      for (const each of found) {
        const key = `${each.endpoint} ${each.field}`;
        const before = sums.get(key);
        sums.set(key, before ? { ...before, count: before.count + each.count } : each);
      }
    }
    return [...sums.values()];
  }

  dropped(reason: DropReason, series: number): void {
    if (this.#dropped.has(reason)) return;
    this.#dropped.add(reason);
    const remedy =
      reason === 'limit'
        ? 'set compact for this appliance, raise limits.series_per_appliance, or leave farms out with farms.exclude'
        : 'the appliance names something twice';
    this.#log.warn({ reason, series, remedy }, 'series are left out of /metrics');
  }

  unknownWord(family: string, longWord: string): void {
    const word = longWord.slice(0, 64);
    const key = `${family} ${word}`;
    if (this.#words.has(key) || this.#words.size >= maxWords) return;
    this.#words.add(key);
    this.#log.warn({ family, word }, 'status not known to this exporter, shown as unknown');
  }

  /** Returns what a collector has not recovered from, if anything. */
  trouble(collector: string): { readonly reason: FailureReason; readonly sinceMs: number } | undefined {
    const trouble = this.#failing.get(collector);
    return trouble && { reason: trouble.reason, sinceMs: trouble.sinceMs };
  }
}
