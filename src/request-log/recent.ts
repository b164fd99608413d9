import type { LastMinute } from '../state/status.ts';

interface Interval {
  /** Its place in time: the interval from `index * intervalMs` on. */
  readonly index: number;
  requests: number;
  failed: number;
  /** Counts by the bound of the histogram. */
  readonly byBound: Map<number, number>;
}

interface CountedRequests {
  readonly times: number;
  readonly isFailed: boolean;
  readonly withinSeconds: number | undefined;
}

const intervalMs = 10_000;
const intervalsPerMinute = 6;

/** Counts the requests of a farm in intervals of ten seconds, and forgets them after a minute. */
export class RecentRequests {
  #intervals: readonly Interval[] = [];

  /** Adds requests; `withinSeconds` is undefined for one that was not timed. */
  add({ times, isFailed, withinSeconds }: Added, nowSteadyMs: number): void {
    const slot = this.#slotAt(Math.floor(nowSteadyMs / slotMs));
    slot.requests += times;
    if (isFailed) slot.failed += times;
    if (withinSeconds !== undefined) slot.within.set(withinSeconds, (slot.within.get(withinSeconds) ?? 0) + times);
  }

  /** Sums up the last six whole ten seconds; undefined without a request: the log may be silent. */
  lastMinute(nowSteadyMs: number): LastMinute | undefined {
    const current = Math.floor(nowSteadyMs / slotMs);
    const recent = this.#slots.filter(({ number }) => number < current && number >= current - slotsOfMinute);
    if (recent.length === 0) return undefined;
    const timed = recent.flatMap(({ byBound }) => [...byBound]).toSorted(([one], [other]) => one - other);
    let left = 0.95 * timed.reduce((total, [, count]) => total + count, 0);
    return {
      perSecond: recent.reduce((total, { requests }) => total + requests, 0) / 60,
      failed: recent.reduce((total, { failed }) => total + failed, 0),
      p95Seconds: timed.find(([, count]) => (left -= count) <= 0)?.[0],
    };
  }

  #intervalAt(index: number): Interval {
    const last = this.#intervals.at(-1);
    if (last?.index === index) return last;
    const interval = { index, requests: 0, failed: 0, byBound: new Map<number, number>() };
    this.#intervals = [...this.#intervals.slice(-intervalsPerMinute), interval];
    return interval;
  }
}
