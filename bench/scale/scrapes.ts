import { setTimeout as pause } from 'node:timers/promises';
import { startChild } from '../child.ts';
import { inTurn, percentile } from '../measure.ts';
import { createScraper, type Encoding, type Scraper } from '../scraper.ts';
import { sentHeaders } from '../sent-headers.ts';
import type { StaticAnswers } from '../static-server.ts';
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

export interface PageTimes {
  readonly plain: Compared;
  readonly gzip: Compared;
}

/** So that readings come in between one round and the next, and the loop is not measured as the scraper's alone. */
const betweenRoundsMs = 100;
const betweenProbesMs = 50;
/** They are short, and a 99th percentile of few is what the machine did meanwhile: of 2,400 it was half as much again in one run as in the next. */
const probesARound = 10;
/**
 * Who came three times comes again when it is expected, as Prometheus does for as long as it runs. The others, a minute with 100
 * appliances, are for V8, whose threads compile meanwhile what is new, and take a core for it.
 */
const timesBefore = 12;
/** Of a larger fleet so many, each at even intervals that are not longer than Prometheus'. */
const mostProbed = 100;

/** Scrapes an exporter at work, and a server of the bytes that it sent at first, in turn. */
export async function pageTimes({ exporter }: Stage, rounds: number): Promise<PageTimes> {
  const fixed = await startFixed(exporter, '/metrics', ['plain', 'gzip']);
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
    };
  } finally {
    fixed.close();
  }
}

/**
 * One appliance after the other, as Prometheus does that has a target for each. It does not scrape the page of all as well, and asks for
 * gzip alone; what nobody asks for is not made ready.
 */
export async function probeTimes({ exporter }: Stage, rounds: number, appliances: number): Promise<Compared> {
  const probed = Math.min(appliances, mostProbed);
  const path = (turn: number): string => `/probe?target=${nameOf(turn % probed)}`;
  const fixed = await startFixed(exporter, path(0), ['gzip']);
  let turn = 0;
  try {
    while (turn < timesBefore * probed) {
      await exporter.time('gzip', path((turn += 1)));
      await pause(betweenProbesMs);
    }
    const [ours = [], theirs = []] = await inTurn(rounds * probesARound, [
      () => exporter.time('gzip', path((turn += 1))),
      () => fixed.scraper.time('gzip', path(0)),
      () => pause(betweenProbesMs, 0),
    ]);
    return { ours: timesOf(ours), fixed: timesOf(theirs) };
  } finally {
    fixed.close();
  }
}

async function startFixed(
  exporter: Scraper,
  path: string,
  encodings: readonly Encoding[],
): Promise<{ scraper: Scraper; close(): void }> {
  const answers: StaticAnswers = {};
  for (const encoding of encodings) {
    const scrape = await exporter.scrape(encoding, path);
    answers[encoding] = { headers: sentHeaders(scrape), body: scrape.body };
  }
  const child = await startChild(new URL('../static-server.ts', import.meta.url), answers);
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
