import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../measure.ts';
import type { FleetSize } from './fleet-size.ts';
import { type Compared, type PageTimes, pageTimes, probeTimes } from './scrapes.ts';
import { setStage, type Stage } from './stage.ts';
import type { Usage } from '../usage.ts';

/** An exporter that polls a fleet of simulated appliances, as it was seen from outside and as it saw itself. */
export interface AtWork {
  readonly size: FleetSize;
  readonly series: number;
  /** While Prometheus' way of scraping is all there is. */
  readonly usual: Usage;
  /** Gzip scrapes some seconds apart, so that everything has new readings at each of them; the median, in milliseconds. */
  readonly rareScrapeMs: number;
  readonly times: PageTimes & { readonly probe: Compared };
  /** Of the whole time, one scrape after the other included. */
  readonly loopDelayMs: { readonly p99: number; readonly max: number };
  readonly highestRssBytes: number;
}

export interface AtWorkParts {
  readonly size: FleetSize;
  /** Scrapes as a Prometheus would make them, {@link betweenScrapesMs} apart. */
  readonly rareScrapes: number;
  /** Scrapes of each kind one after the other. */
  readonly rounds: number;
}

const betweenScrapesMs = 2_500;
/** Once everything was read for the first time there is next to nothing to do; after a minute, the longest of the intervals that cost much, it is as it stays. */
const firstIntervalMs = 60_000;

/** `beside` is done at the end, while the fleet is still there. */
export async function watchAtWork<Beside>(
  { size, rareScrapes, rounds }: AtWorkParts,
  beside: (stage: Stage) => Promise<Beside>,
): Promise<{ readonly atWork: AtWork; readonly beside: Beside }> {
  const stage = await setStage(size);
  try {
    await pause(firstIntervalMs);
    await stage.usage();
    const probe = await probeTimes(stage, rounds, size.appliances);
    const probed = await stage.usage();
    const rare: number[] = [];
    for (let scrape = 0; scrape < rareScrapes; scrape += 1) {
      await pause(betweenScrapesMs);
      rare.push(await stage.exporter.time('gzip'));
    }
    const usual = await stage.usage();
    const pages = await pageTimes(stage, rounds);
    const busy = await stage.usage();
    const all = [probed, usual, busy];
    const { body } = await stage.exporter.scrape('plain');
    return {
      atWork: {
        size,
        series: seriesOf(body),
        usual,
        rareScrapeMs: percentile(rare, 0.5),
        times: { ...pages, probe },
        loopDelayMs: {
          p99: Math.max(...all.map(({ loopDelayMs }) => loopDelayMs.p99)),
          max: Math.max(...all.map(({ loopDelayMs }) => loopDelayMs.max)),
        },
        highestRssBytes: Math.max(...all.map(({ highestRssBytes }) => highestRssBytes)),
      },
      beside: await beside(stage),
    };
  } finally {
    stage.close();
  }
}

const [newline, hash] = ['\n'.charCodeAt(0), '#'.charCodeAt(0)];

/** The lines of a page that are no headers; of a hundred megabytes, so without making texts of them. */
export function seriesOf(page: Buffer): number {
  let series = 0;
  for (let start = 0; start < page.length; ) {
    if (page[start] !== hash) series += 1;
    const end = page.indexOf(newline, start);
    start = end === -1 ? page.length : end + 1;
  }
  return series;
}
