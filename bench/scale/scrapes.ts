import { setTimeout as pause } from 'node:timers/promises';
import { startChild } from '../child.ts';
import { inTurn, percentile } from '../measure.ts';
import { createScraper, type Encoding, type Scraper } from '../scraper.ts';
import { sentHeaders } from '../sent-headers.ts';
import { nameOf, type Stage } from './stage.ts';

/** Milliseconds from the request to the last byte. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
}

export interface Compared {
  readonly ours: Times;
  /** node:http that sends the same bytes. */
  readonly fixed: Times;
}

export interface ScrapeTimes {
  readonly plain: Compared;
  readonly gzip: Compared;
  readonly probe: Compared;
  readonly plainBytes: number;
  readonly gzipBytes: number;
}

/** So that readings come in between one round and the next, and the loop is not measured as the scraper's alone. */
const betweenRoundsMs = 100;

/** Scrapes an exporter at work, and servers of the bytes that it sent at first, in turn. */
export async function scrapeTimes({ exporter, url }: Stage, rounds: number, appliances: number): Promise<ScrapeTimes> {
  const probe = `/probe?target=${nameOf(Math.floor(appliances / 2))}`;
  const [plain, gzip] = [await exporter.scrape('plain'), await exporter.scrape('gzip')];
  const [fixedPages, fixedProbes] = [await startFixed(exporter, '/metrics'), await startFixed(exporter, probe)];
  const prober = createScraper(url);
  const scrape = (scraper: Scraper, encoding: Encoding, path: string) => () => scraper.time(encoding, path);
  try {
    const taken = await inTurn(rounds, [
      scrape(exporter, 'plain', '/metrics'),
      scrape(fixedPages.scraper, 'plain', '/metrics'),
      scrape(exporter, 'gzip', '/metrics'),
      scrape(fixedPages.scraper, 'gzip', '/metrics'),
      scrape(prober, 'gzip', probe),
      scrape(fixedProbes.scraper, 'gzip', probe),
      () => pause(betweenRoundsMs, 0),
    ]);
    const compared = (index: number): Compared => ({
      ours: timesOf(taken[index] ?? []),
      fixed: timesOf(taken[index + 1] ?? []),
    });
    return {
      plain: compared(0),
      gzip: compared(2),
      probe: compared(4),
      plainBytes: plain.body.length,
      gzipBytes: gzip.body.length,
    };
  } finally {
    prober.close();
    fixedPages.close();
    fixedProbes.close();
  }
}

async function startFixed(exporter: Scraper, path: string): Promise<{ scraper: Scraper; close(): void }> {
  const answer = async (encoding: Encoding) => {
    const scrape = await exporter.scrape(encoding, path);
    return { headers: sentHeaders(scrape), body: scrape.body };
  };
  const child = await startChild(new URL('../static-server.ts', import.meta.url), {
    plain: await answer('plain'),
    gzip: await answer('gzip'),
  });
  const scraper = createScraper(child.url);
  return {
    scraper,
    close() {
      scraper.close();
      child.stop();
    },
  };
}

function timesOf(values: readonly number[]): Times {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}
