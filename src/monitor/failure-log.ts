import type { Logger } from 'pino';
import type { FailureReason } from '../appliance/errors.ts';
import { keyOf, type Origin } from './origin.ts';

/** Says each trouble once: at its first occurrence, when its reason changes, and when it is over. */
export interface FailureLog {
  failed(origin: Origin, reason: FailureReason, error: Error): void;
  lacking(collector: string, error: Error): void;
  recovered(origin: Origin): void;
  /** What is gone neither fails nor recovers. */
  forget(origin: Origin): void;
  unknownWord(family: string, word: string): void;
}

/** An appliance that invents a new word at every poll must not fill the memory or the log. */
const mostWords = 100;

export function createFailureLog(log: Logger): FailureLog {
  const reasons = new Map<string, FailureReason>();
  const words = new Set<string>();
  return {
    failed(origin, reason, error) {
      const key = keyOf(origin);
      if (reasons.get(key) === reason) return;
      reasons.set(key, reason);
      log.warn({ ...origin, reason, because: error.message }, 'poll failed');
    },
    lacking(collector, error) {
      log.info(
        { collector, because: error.message },
        'appliance does not have what this collector reads, left out until its version changes',
      );
    },
    recovered(origin) {
      if (reasons.delete(keyOf(origin))) log.info({ ...origin }, 'poll succeeds again');
    },
    forget: (origin) => reasons.delete(keyOf(origin)),
    unknownWord(family, longWord) {
      const word = longWord.slice(0, 64);
      const key = `${family} ${word}`;
      if (words.has(key) || words.size >= mostWords) return;
      words.add(key);
      log.warn({ family, word }, 'status not known to this exporter, shown as unknown');
    },
  };
}
