import type { LastMinute } from '../state/status.ts';

interface Slot {
  /** Which ten seconds of all time it holds. */
  readonly number: number;
  requests: number;
  failed: number;
  /** By the bound that each is within. */
  readonly within: Map<number, number>;
}

interface Added {
  readonly times: number;
  readonly isFailed: boolean;
  readonly withinSeconds: number | undefined;
}

const slotMs = 10_000;
const slotsOfMinute = 6;

/** Counts the requests of a farm by ten seconds, and forgets them after a minute. */
export class RecentRequests {
  #slots: readonly Slot[] = [];

  /** Adds requests; `withinSeconds` is undefined for one that was not timed. */
  add({ times, isFailed, withinSeconds }: Added, nowMs: number): void {
    const slot = this.#slotAt(Math.floor(nowMs / slotMs));
    slot.requests += times;
    if (isFailed) slot.failed += times;
    if (withinSeconds !== undefined) slot.within.set(withinSeconds, (slot.within.get(withinSeconds) ?? 0) + times);
  }

  /** Sums up the last six whole ten seconds; undefined without a request: the log may be silent. */
  lastMinute(nowMs: number): LastMinute | undefined {
    const current = Math.floor(nowMs / slotMs);
    const recent = this.#slots.filter(({ number }) => number < current && number >= current - slotsOfMinute);
    if (recent.length === 0) return undefined;
    const timed = recent.flatMap(({ within }) => [...within]).toSorted(([one], [other]) => one - other);
    let left = 0.95 * timed.reduce((total, [, count]) => total + count, 0);
    return {
      perSecond: recent.reduce((total, { requests }) => total + requests, 0) / 60,
      failed: recent.reduce((total, { failed }) => total + failed, 0),
      p95Seconds: timed.find(([, count]) => (left -= count) <= 0)?.[0],
    };
  }

  #slotAt(number: number): Slot {
    const last = this.#slots.at(-1);
    if (last?.number === number) return last;
    const slot = { number, requests: 0, failed: 0, within: new Map<number, number>() };
    this.#slots = [...this.#slots.slice(-slotsOfMinute), slot];
    return slot;
  }
}
