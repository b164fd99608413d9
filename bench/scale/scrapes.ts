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
}

/** So that readings come in between one round and the next, and the loop is not measured as the scraper's alone. */
const betweenRoundsMs = 100;
const betweenProbesMs = 50;
/** They are short, and a 99th percentile of few is their maximum. */
const probesARound = 4;

/** Scrapes an exporter at work, and servers of the bytes that it sent at first, in turn. */
export async function scrapeTimes(stage: Stage, rounds: number, appliances: number): Promise<ScrapeTimes> {
  const { exporter } = stage;
  const fixed = await startFixed(exporter, '/metrics');
  try {
    const [ours = [], theirs = [], oursPacked = [], theirsPacked = []] = await inTurn(rounds, [
      () => exporter.time('plain'),
      () => fixed.scraper.time('plain'),
      () => exporter.time('gzip'),
      () => fixed.scraper.time('gzip'),
      () => pause(betweenRoundsMs, 0),
    ]);
    return {
      plain: { ours: timesOf(ours), fixed: timesOf(theirs) },
      gzip: { ours: timesOf(oursPacked), fixed: timesOf(theirsPacked) },
      probe: await probeTimes(exporter, rounds * probesARound, appliances),
    };
  } finally {
    fixed.close();
  }
}

/** One appliance after the other, as Prometheus does that has a target for each; it does not scrape the page of all as well. */
async function probeTimes(exporter: Scraper, rounds: number, appliances: number): Promise<Compared> {
  const path = (turn: number): string => `/probe?target=${nameOf(turn % appliances)}`;
  const fixed = await startFixed(exporter, path(0));
  let turn = 0;
  try {
    const [ours = [], theirs = []] = await inTurn(rounds, [
      () => exporter.time('gzip', path((turn += 1))),
      () => fixed.scraper.time('gzip', path(0)),
      () => pause(betweenProbesMs, 0),
    ]);
    return { ours: timesOf(ours), fixed: timesOf(theirs) };
  } finally {
    fixed.close();
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
