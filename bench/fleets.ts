import { setTimeout as pause } from 'node:timers/promises';
import { isThere } from '../test/support/programs.ts';
import { type AtWork, firstTick, watchAtWork } from './at-work.ts';
import { clone, startExporter } from './exporter.ts';
import { type Fleet, type FleetSize, sizeText, startFleet } from './fleet.ts';
import { haproxyExporter, haproxyResults } from './haproxy.ts';
import type { Builds, Program } from './installed.ts';
import { medians, percentile, usageOf } from './measure.ts';
import { olderCommit } from './older.ts';
import { seriesOf, startStaticServer } from './references.ts';
import { absolute, compare, type Result } from './results.ts';
import { createScraper, type Encoding } from './scraper.ts';

/** About 274,000 series. */
const large = { appliances: 100, farms: 52, backendsPerFarm: 4 };
const small = { appliances: 1, farms: 10, backendsPerFarm: 3 };
const growing = { farms: 5, backendsPerFarm: 10 };
const goals = {
  loopP99Ms: 20,
  loopMaxMs: 150,
  largeMemory: 0.7,
  smallMemory: 0.75,
  growth: 1.05,
  scrape: 1.2,
} as const;
const smallSeconds = 180;
const ofEach = 3;
const sendingRounds = 10;

/** An exporter of one appliance for each way to start it, of which all run beside each other. */
export async function oneApplianceResults({ plain, ours, older }: Builds): Promise<Result[]> {
  const fleet = await startFleet(small, 'realistic');
  const start = async (program: Program, count: number) =>
    await Promise.all(Array.from({ length: count }, () => startExporter(program, configuration(fleet))));
  const [theirs, unit, npx, cloned] = [
    await start(older, ofEach),
    await start(ours, ofEach),
    await start(plain, ofEach),
    await start(clone, ofEach),
  ];
  const scraped = [...theirs, ...unit, ...npx, ...cloned];
  for (let second = 0; second < smallSeconds; second += 15) {
    await pause(15_000);
    for (const { url } of scraped) await (await fetch(`${url}/metrics`)).text();
  }
  const megabytes = (exporters: typeof unit): number =>
    percentile(
      exporters.map(({ pid }) => usageOf(pid).maxResidentBytes / 1e6),
      0.5,
    );
  const reference = megabytes(theirs);
  const row = (way: string, exporters: typeof unit, goal = {}): Result =>
    compare({
      name: `resident memory, ${sizeText(small)}, ${way} (${olderCommit}, installed)`,
      unit: 'MB',
      ours: megabytes(exporters),
      reference,
      ...goal,
    });
  const results = [
    row('installed, as the unit starts it', unit, { atMost: goals.smallMemory }),
    row('as npx starts it', npx),
    row('from a clone, without flags', cloned),
  ];
  for (const exporter of scraped) await exporter.stop();
  await fleet.stop();
  return results;
}

/** 100 appliances that are polled by the default schedules, by the older commit and by this one. */
export async function largeFleetResults({ ours, older }: Builds): Promise<Result[]> {
  const fleet = await startFleet(large, 'realistic');
  const theirs = await atLargeFleet(fleet, older);
  await theirs.exporter.stop();
  const { exporter, atWork } = await atLargeFleet(fleet, ours);
  const scraper = createScraper(exporter.url);
  const series = seriesOf((await scraper.scrape('plain')).body.toString());
  const results = [...largeResults(series, atWork, theirs.atWork)];
  if (isThere(haproxyExporter)) results.push(...(await haproxyResults(scraper, series)));
  scraper.close();
  await exporter.stop();
  await fleet.stop();
  return results;
}

async function atLargeFleet(fleet: Fleet, program: Program) {
  const startedAtMs = Date.now();
  const exporter = await startExporter(program, configuration(fleet));
  await firstTick(60, startedAtMs);
  const parts = { exporter, appliance: firstOf(fleet), encodings: ['gzip'], scrapes: 4, everyMs: 15_000 } as const;
  return { exporter, atWork: await watchAtWork(parts) };
}

/** The same exporter with 100 and with 1,000 appliances. */
export async function growthResults({ ours }: Builds): Promise<Result[]> {
  const hundred = await atWorkWith({ appliances: 100, ...growing }, ours);
  const thousand = await atWorkWith({ appliances: 1_000, ...growing }, ours);
  const size = sizeText({ appliances: 1_000, ...growing });
  const exponent = (of: (atWork: AtWorkOfSize) => number): number => Math.log10(of(thousand) / of(hundred));
  const grown = (what: string, of: (atWork: AtWorkOfSize) => number, goal = {}): Result =>
    absolute({
      name: `from 100 to ${size}: ${what} (1 is linear)`,
      unit: 'exponent',
      value: exponent(of),
      ...goal,
    });
  return [
    grown('resident memory', ({ maxResidentMb }) => maxResidentMb, { atMost: goals.growth }),
    grown('CPU', ({ cpuRatio }) => cpuRatio, { atMost: goals.growth }),
    ...(['plain', 'gzip'] as const).flatMap((encoding) => {
      const [whole, bytes] = [
        ({ scrapeMs }: AtWorkOfSize) => scrapeMs[encoding] ?? Number.NaN,
        ({ sendingMs }: AtWorkOfSize) => sendingMs[encoding] ?? Number.NaN,
      ];
      return [
        compare({
          name: `a scrape of ${size}, ${encoding} (node:http sends the same bytes)`,
          unit: 'ms',
          ours: whole(thousand),
          reference: bytes(thousand),
        }),
        grown(`scrape, ${encoding}`, whole),
        grown(`node:http sends the same bytes, ${encoding}`, bytes),
        grown(`scrape, ${encoding}, what it takes longer than that`, (each) => whole(each) - bytes(each), {
          atMost: goals.scrape,
        }),
      ];
    }),
  ];
}

function largeResults(series: number, atWork: AtWork, theirs: AtWork): Result[] {
  const fleet = `${series.toLocaleString('en')} series, ${sizeText(large)}`;
  const beside = (name: string, unit: Result['unit'], of: (each: AtWork) => number, goal = {}): Result =>
    compare({ name: `${name}, ${fleet} (${olderCommit})`, unit, ours: of(atWork), reference: of(theirs), ...goal });
  const { loopDelayMs, idleLoopDelayMs } = atWork;
  const loop = (name: string, value: number, atMost?: number): Result =>
    absolute({ name: `event loop delay, ${name}, ${fleet}`, unit: 'ms', value, ...(atMost && { atMost }) });
  return [
    loop('99th percentile', loopDelayMs.p99, goals.loopP99Ms),
    loop('longest', loopDelayMs.max, goals.loopMaxMs),
    loop('99th percentile, of a process that does nothing meanwhile', idleLoopDelayMs.p99),
    loop('longest, of a process that does nothing meanwhile', idleLoopDelayMs.max),
    loop(`99th percentile, ${olderCommit}`, theirs.loopDelayMs.p99),
    beside('resident memory', 'MB', ({ maxResidentMb }) => maxResidentMb, { atMost: goals.largeMemory }),
    beside('CPU', 'CPU s/s', ({ cpuRatio }) => cpuRatio),
    beside('scrape, gzip', 'ms', ({ scrapeMs }) => scrapeMs.gzip ?? Number.NaN),
  ];
}

interface AtWorkOfSize extends AtWork {
  /** How long node:http takes to send the same bytes. */
  readonly sendingMs: Readonly<Partial<Record<Encoding, number>>>;
}

async function atWorkWith(size: FleetSize, program: Program): Promise<AtWorkOfSize> {
  const fleet = await startFleet(size, 'realistic');
  // Doubles the frequency of costly collectors, so that half a minute has all of them.
  const schedule = { schedule: '*/30 * * * * *' };
  const collectors = { backends: schedule, interfaces: schedule, summary: schedule, system: schedule };
  const startedAtMs = Date.now();
  const exporter = await startExporter(program, { ...configuration(fleet), collectors });
  await firstTick(30, startedAtMs);
  const parts = {
    exporter,
    appliance: firstOf(fleet),
    encodings: ['plain', 'gzip'],
    scrapes: 5,
    everyMs: 3_000,
  } as const;
  const atWork = await watchAtWork(parts);
  const scraper = createScraper(exporter.url);
  const server = await startStaticServer(scraper);
  const [plain, gzip] = await medians(sendingRounds, [
    () => server.scraper.time('plain'),
    () => server.scraper.time('gzip'),
  ]);
  scraper.close();
  await server.stop();
  await exporter.stop();
  await fleet.stop();
  return { ...atWork, sendingMs: { plain, gzip } };
}

/**
 * Without the bound on the busy share the first readings are there in seconds; later ones are
 * spread over their interval anyway.
 */
function configuration({ entries }: Fleet): object {
  return { appliances: entries, polling: { max_busy_ratio: 1 } };
}

function firstOf({ entries }: Fleet): string {
  return entries[0]?.name ?? '';
}
