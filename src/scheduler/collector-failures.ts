import type { Logger } from 'pino';
import type { UnreadableField } from '../appliance/client.ts';
import type { FailureReason } from '../appliance/errors.ts';
import type { StateListener } from '../state/appliance-state.ts';
import { readingKey, type Origin } from '../state/reading.ts';
import type { FailingCalls } from '../state/status.ts';

/**
 * The failures of one collector: two hundred farms that fail alike are one line of the log, and the
 * error counter has the number.
 */
interface OngoingFailure {
  readonly origins: Set<string>;
  readonly reasons: Set<FailureReason>;
  reason: FailureReason;
  readonly sinceMs: number;
}

/**
 * Keeps what each collector has not recovered from, and logs it once: at its first occurrence, when
 * another reason comes, and when all of it is over.
 */
export class CollectorFailures implements StateListener {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #failing = new Map<string, OngoingFailure>();
  /** Holds the values of the newest replies that could not be read, by origin. */
  readonly #unreadable = new Map<string, { readonly origin: Origin; readonly found: readonly UnreadableField[] }>();

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  recordFailure(origin: Origin, reason: FailureReason, error: Error): void {
    const failure = this.#failing.get(origin.collector) ?? {
      origins: new Set(),
      reasons: new Set(),
      reason,
      sinceMs: this.#now(),
    };
    this.#failing.set(origin.collector, failure);
    failure.reason = reason;
    failure.origins.add(readingKey(origin));
    if (failure.reasons.has(reason)) return;
    failure.reasons.add(reason);
    this.#log.warn({ ...origin, reason, because: error.message }, 'poll failed');
  }

  logMissingRoute(collector: string, error: Error): void {
    this.#log.info(
      { collector, because: error.message },
      'appliance does not have what this collector reads, left out for an hour or until its version changes',
    );
  }

  recordRecovery(origin: Origin): void {
    if (this.#endFailure(origin)) this.#log.info({ ...origin }, 'poll succeeds again');
  }

  /** Keeps the fields of the newest replies that could not be read; logs each of a collector once. */
  recordUnreadable(origin: Origin, found: readonly UnreadableField[]): void {
    const known = this.unreadableOf(origin.collector);
    if (found.length === 0) this.#unreadable.delete(readingKey(origin));
    else this.#unreadable.set(readingKey(origin), { origin, found });
    for (const { endpoint, field, count, example } of found) {
      if (known.some((each) => each.endpoint === endpoint && each.field === field)) continue;
      this.#log.warn({ ...origin, endpoint, field, count, example }, 'values in a reply cannot be read, left out');
    }
  }

  /** Forgets an origin that is gone, which neither fails nor recovers. */
  onRemoved(origin: Origin, why: 'stale' | 'gone'): void {
    if (why === 'stale') return;
    this.#endFailure(origin);
    this.#unreadable.delete(readingKey(origin));
  }

  /** Returns what a collector has not recovered from, if anything. */
  failureOf(collector: string): FailingCalls | undefined {
    const failure = this.#failing.get(collector);
    return failure && { reason: failure.reason, sinceMs: failure.sinceMs };
  }

  /** Returns the fields of the newest replies that could not be read, each with the sum of its values. */
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

  /** Returns true if it was the last origin that failed. */
  #endFailure(origin: Origin): boolean {
    const failure = this.#failing.get(origin.collector);
    const wasLast = failure?.origins.delete(readingKey(origin)) === true && failure.origins.size === 0;
    if (wasLast) this.#failing.delete(origin.collector);
    return wasLast;
  }
}
