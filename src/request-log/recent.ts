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
  add({ times, isFailed, withinSeconds }: CountedRequests, nowSteadyMs: number): void {
    const interval = this.#intervalAt(Math.floor(nowSteadyMs / intervalMs));
    interval.requests += times;
    if (isFailed) interval.failed += times;
    if (withinSeconds !== undefined)
      interval.byBound.set(withinSeconds, (interval.byBound.get(withinSeconds) ?? 0) + times);
  }

  /** Returns the sums of the last six whole intervals; undefined without a request. */
  lastMinute(nowSteadyMs: number): LastMinute | undefined {
    const current = Math.floor(nowSteadyMs / intervalMs);
    const recent = this.#intervals.filter(({ index }) => index < current && index >= current - intervalsPerMinute);
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
