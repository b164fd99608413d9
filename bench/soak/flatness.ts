import type { Finding } from './finding.ts';
import type { Stretch } from './punctuality.ts';
import { growsBy, lowestOfEach, type Point, trendOf } from './trend.ts';
import type { Measure } from './watch.ts';

/** Too little of it, and a slope says nothing. */
const leastMs = 10 * 60_000;
/** An hour's growth that nobody would call a leak. */
const mostShare = 0.05;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const plain = (count: number): string => count.toFixed(1);

const looks = [
  { measure: 'resident', name: 'resident memory', show: megabytes, stretchMs: 0 },
  // What a collection of garbage leaves.
  { measure: 'heap', name: 'heap, lowest of each minute', show: megabytes, stretchMs: 60_000 },
  { measure: 'objects', name: 'of it without compiled code', show: megabytes, stretchMs: 60_000 },
  { measure: 'handles', name: 'open handles', show: plain, stretchMs: 0 },
  { measure: 'sockets', name: 'open sockets', show: plain, stretchMs: 0 },
] as const;

/** Whether what the exporter holds grows with time; in a short stretch the slopes have no goal. */
export function flatness(
  part: string,
  measured: Readonly<Record<Measure, readonly Point[]>>,
  { fromMs, toMs }: Stretch,
): readonly Finding[] {
  return looks.map(({ measure, name, show, stretchMs }) => {
    const points = measured[measure].filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    const trend = trendOf(stretchMs > 0 ? lowestOfEach(stretchMs, points) : points);
    return {
      part,
      name: `${name}, growth per hour`,
      value: `${show(trend.perHour)} ± ${show(trend.confidence)} of ${show(trend.mean)}`,
      ...(toMs - fromMs >= leastMs && {
        goal: `not beyond doubt over ${mostShare * 100} %`,
        holds: !growsBy(trend, mostShare),
      }),
    };
  });
}
