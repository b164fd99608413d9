import { absolute, compare, type Result } from '../results.ts';
import type { AtWork } from './at-work.ts';
import { sizeText } from './fleet-size.ts';
import type { Compared } from './scrapes.ts';

/** What the exporter is held to. */
const goals = { ratio: 2, probeMs: 5, loopP99Ms: 20, loopMaxMs: 100, rssMb: 400 } as const;

/** The lines of the table for one fleet, with goals where it is the one that the goals are about. */
export function loadedResults(atWork: AtWork, isHeldToGoals: boolean): Result[] {
  const { size, series, times, usual, rareScrapeMs, loopDelayMs, highestRssBytes } = atWork;
  const fleet = `${series.toLocaleString('en')} series of ${sizeText(size)}, being polled`;
  const held = <Goal>(goal: Goal): { goal?: Goal } => (isHeldToGoals ? { goal } : {});
  const limit = (atMost: number): { atMost?: number } => (isHeldToGoals ? { atMost } : {});
  const slowest = (what: string, { ours, fixed }: Compared): Result =>
    compare({
      name: `${fleet}: ${what}, 99th percentile (reference: node:http sends the same bytes)`,
      unit: 'ms',
      ours: ours.p99,
      reference: fixed.p99,
      ...held({ atMost: goals.ratio }),
    });
  const median = (what: string, { ours, fixed }: Compared): Result =>
    compare({ name: `${fleet}: ${what}, median`, unit: 'ms', ours: ours.p50, reference: fixed.p50 });
  const alone = (what: string, unit: Result['unit'], value: number, goal: { readonly atMost?: number } = {}): Result =>
    absolute({ name: `${fleet}: ${what}`, unit, value, ...goal });
  return [
    slowest('/metrics plain', times.plain),
    median('/metrics plain', times.plain),
    slowest('/metrics gzip', times.gzip),
    median('/metrics gzip', times.gzip),
    slowest('/probe', times.probe),
    median('/probe', times.probe),
    alone('/probe, 99th percentile', 'ms', times.probe.ours.p99, limit(goals.probeMs)),
    alone('/metrics gzip after seconds without a scrape, median', 'ms', rareScrapeMs),
    alone('event loop delay, 99th percentile', 'ms', loopDelayMs.p99, limit(goals.loopP99Ms)),
    alone('event loop delay, longest', 'ms', loopDelayMs.max, limit(goals.loopMaxMs)),
    alone('resident memory at its highest', 'MB', highestRssBytes / 1e6, limit(goals.rssMb)),
    alone('CPU of polling and a scrape now and then', 'CPU s/s', usual.cpuShare),
  ];
}
