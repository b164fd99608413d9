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

interface Look {
  readonly measure: Measure;
  readonly name: string;
  readonly show: (value: number) => string;
  /** The share of the stretch before it counts. */
  readonly after: number;
  /** Only the lowest of each so long; 0 for all there is. */
  readonly stretchMs: number;
}

// What a collection of garbage leaves.
const minima = { show: megabytes, stretchMs: 60_000 };
/** V8 compiles what has become hot, for some ten minutes of a new kind of load; from then on it has to stay as it is. */
const compiled = 0.5;

const looks: readonly Look[] = [
  { measure: 'resident', name: 'resident memory', show: megabytes, after: 0, stretchMs: 0 },
  { measure: 'objects', name: 'heap without compiled code, lowest of each minute', after: 0, ...minima },
  { measure: 'heap', name: 'heap in the second half, lowest of each minute', after: compiled, ...minima },
  { measure: 'handles', name: 'open handles', show: plain, after: 0, stretchMs: 0 },
  { measure: 'sockets', name: 'open sockets', show: plain, after: 0, stretchMs: 0 },
];

/** Whether what the exporter holds grows with time; in a short stretch the slopes have no goal. */
export function flatness(
  part: string,
  measured: Readonly<Record<Measure, readonly Point[]>>,
  { fromMs, toMs }: Stretch,
): readonly Finding[] {
  return looks.map(({ measure, name, show, after, stretchMs }) => {
    const countsFromMs = fromMs + after * (toMs - fromMs);
    const points = measured[measure].filter(({ atMs }) => atMs >= countsFromMs && atMs <= toMs);
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
