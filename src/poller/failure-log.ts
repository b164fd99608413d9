import type { Logger } from 'pino';
import type { FailureReason } from '../appliance/errors.ts';
import type { DropReason } from './counters.ts';
import { keyOf, type Origin } from './reading.ts';

/** An appliance that invents a new word at every poll must not fill the memory or the log. */
const maxWords = 100;

/**
 * Failing parts of one collector: two hundred farms that fail alike are one line, and the error
 * counter has the number.
 */
interface Trouble {
  readonly origins: Set<string>;
  /** Reasons that were logged. */
  readonly reasons: Set<FailureReason>;
  /** The reason of the newest failure. */
  reason: FailureReason;
  /** Unix milliseconds. */
  readonly sinceMs: number;
}

/**
 * Logs each trouble of a collector once: at its first occurrence, when another reason comes, and
 * when all of it is over.
 */
export class FailureLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #failing = new Map<string, Trouble>();
  readonly #words = new Set<string>();
  readonly #dropped = new Set<DropReason>();

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
    trouble.origins.add(keyOf(origin));
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
    if (this.forget(origin)) this.#log.info({ ...origin }, 'poll succeeds again');
  }

  /**
   * Forgets an origin that is gone, which neither fails nor recovers; returns true if it was the
   * last that failed.
   */
  forget(origin: Origin): boolean {
    const trouble = this.#failing.get(origin.collector);
    const wasLast = trouble?.origins.delete(keyOf(origin)) === true && trouble.origins.size === 0;
    if (wasLast) this.#failing.delete(origin.collector);
    return wasLast;
  }

  seriesDropped(reason: DropReason, series: number): void {
    if (this.#dropped.has(reason)) return;
    this.#dropped.add(reason);
    const remedy =
      reason === 'limit'
        ? 'set compact for this appliance, raise limits.series_per_appliance, or leave farms out with farms.exclude'
        : 'the appliance names something twice';
    this.#log.warn({ reason, series, remedy }, 'series are left out of the page');
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
