import type { Logger } from 'pino';
import type { FailureReason } from '../appliance/errors.ts';
import { keyOf, type Origin } from './origin.ts';
import type { DropReason } from './reading-store.ts';

/** Says each trouble of a collector once: at its first occurrence, when another reason comes, and when all of it is over. */
export interface FailureLog {
  failed(origin: Origin, reason: FailureReason, error: Error): void;
  unsupported(collector: string, error: Error): void;
  recovered(origin: Origin): void;
  /** What is gone neither fails nor recovers. */
  forget(origin: Origin): void;
  seriesDropped(reason: DropReason, series: number): void;
  unknownWord(family: string, word: string): void;
  /** What a collector has not recovered from, if anything. */
  trouble(collector: string): { readonly reason: FailureReason; readonly sinceMs: number } | undefined;
}

/** An appliance that invents a new word at every poll must not fill the memory or the log. */
const maxWords = 100;

/** What fails of one collector: two hundred farms that fail alike are one line, and the error counter has the number. */
interface Trouble {
  readonly origins: Set<string>;
  /** Said already. */
  readonly reasons: Set<FailureReason>;
  /** Of the newest failure. */
  reason: FailureReason;
  /** Unix milliseconds. */
  readonly sinceMs: number;
}

export function createFailureLog(log: Logger, now: () => number): FailureLog {
  const failing = new Map<string, Trouble>();
  const words = new Set<string>();
  const dropped = new Set<string>();

  function forget(origin: Origin): boolean {
    const trouble = failing.get(origin.collector);
    const wasLast = trouble?.origins.delete(keyOf(origin)) === true && trouble.origins.size === 0;
    if (wasLast) failing.delete(origin.collector);
    return wasLast;
  }

  return {
    failed(origin, reason, error) {
      const trouble = failing.get(origin.collector) ?? {
        origins: new Set(),
        reasons: new Set(),
        reason,
        sinceMs: now(),
      };
      failing.set(origin.collector, trouble);
      trouble.reason = reason;
      trouble.origins.add(keyOf(origin));
      if (trouble.reasons.has(reason)) return;
      trouble.reasons.add(reason);
      log.warn({ ...origin, reason, because: error.message }, 'poll failed');
    },
    unsupported(collector, error) {
      log.info(
        { collector, because: error.message },
        'appliance does not have what this collector reads, left out for an hour or until its version changes',
      );
    },
    recovered(origin) {
      if (forget(origin)) log.info({ ...origin }, 'poll succeeds again');
    },
    forget,
    seriesDropped(reason, series) {
      if (dropped.has(reason)) return;
      dropped.add(reason);
      const remedy =
        reason === 'limit'
          ? 'set compact for this appliance, raise limits.series_per_appliance, or leave farms out with farms.exclude'
          : 'the appliance names something twice';
      log.warn({ reason, series, remedy }, 'series are left out of the page');
    },
    unknownWord(family, longWord) {
      const word = longWord.slice(0, 64);
      const key = `${family} ${word}`;
      if (words.has(key) || words.size >= maxWords) return;
      words.add(key);
      log.warn({ family, word }, 'status not known to this exporter, shown as unknown');
    },
    trouble(collector) {
      const trouble = failing.get(collector);
      return trouble && { reason: trouble.reason, sinceMs: trouble.sinceMs };
    },
  };
}
