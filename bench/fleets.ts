import { isThere } from '../test/support/programs.ts';
import { type AtWork, firstTick, watchAtWork } from './at-work.ts';
import { clone, type Program, startExporter } from './exporter.ts';
import { type Fleet, type FleetSize, sizeText, startFleet } from './fleet.ts';
import { haproxyExporter, haproxyResults } from './haproxy.ts';
import { usageOf } from './measure.ts';
import { seriesOf } from './references.ts';
import { absolute, type Result } from './results.ts';
import { createScraper } from './scraper.ts';

/** About 274,000 series. */
const large = { appliances: 100, farms: 52, backendsPerFarm: 4 };
const small = { appliances: 1, farms: 10, backendsPerFarm: 3 };
const growing = { farms: 5, backendsPerFarm: 10 };
const goals = { loopP99Ms: 20, loopMaxMs: 150, largeMb: 400, smallMb: 140, growth: 1.05 } as const;

/**
 * 100 appliances that are polled by the default schedules; beside them, an exporter of one
 * appliance for each way to start it.
 */
export async function largeFleetResults(installed: Program): Promise<Result[]> {
  const [fleet, one] = await Promise.all([startFleet(large, 'realistic'), startFleet(small, 'realistic')]);
  const starts = [
    { way: 'as an installed package', exporter: await startExporter(installed, configuration(one)) },
    { way: 'from a clone', exporter: await startExporter(clone, configuration(one)) },
  ];
  const startedAtMs = Date.now();
  const exporter = await startExporter(installed, configuration(fleet));
  await firstTick(60, startedAtMs);
  const parts = { exporter, appliance: firstOf(fleet), encodings: ['gzip'], scrapes: 4, everyMs: 15_000 } as const;
  const atWork = await watchAtWork(parts);
  const scraper = createScraper(exporter.url);
  const series = seriesOf((await scraper.scrape('plain')).body.toString());
  const results = [...largeResults(series, atWork)];
  for (const { way, exporter: started } of starts) {
    // A few scrapes, as it has them from Prometheus.
    for (let scrape = 0; scrape < 4; scrape += 1) await (await fetch(`${started.url}/metrics`)).text();
    const value = usageOf(started.pid).maxResidentBytes / 1e6;
    results.push(
      absolute({ name: `resident memory, ${sizeText(small)}, ${way}`, unit: 'MB', value, atMost: goals.smallMb }),
    );
    await started.stop();
  }
  if (isThere(haproxyExporter)) results.push(...(await haproxyResults(scraper, series)));
  scraper.close();
  await exporter.stop();
  for (const each of [fleet, one]) await each.stop();
  return results;
}

/** The same exporter with 100 and with 1,000 appliances. */
export async function growthResults(installed: Program): Promise<Result[]> {
  const hundred = await atWorkWith({ appliances: 100, ...growing }, installed);
  const thousand = await atWorkWith({ appliances: 1_000, ...growing }, installed);
  const grown = (what: string, of: (atWork: AtWork) => number, goal = {}): Result =>
    absolute({
      name: `from 100 to ${sizeText({ appliances: 1_000, ...growing })}: ${what} (1 is linear)`,
      unit: 'exponent',
      value: Math.log10(of(thousand) / of(hundred)),
      ...goal,
    });
  return [
    grown('resident memory', ({ maxResidentMb }) => maxResidentMb, { atMost: goals.growth }),
    grown('CPU', ({ cpuRatio }) => cpuRatio, { atMost: goals.growth }),
    grown('scrape, plain', ({ scrapeMs }) => scrapeMs.plain ?? Number.NaN),
    grown('scrape, gzip', ({ scrapeMs }) => scrapeMs.gzip ?? Number.NaN),
  ];
}

function largeResults(series: number, { scrapeMs, cpuRatio, loopDelayMs, maxResidentMb }: AtWork): Result[] {
  const fleet = `${series.toLocaleString('en')} series, ${sizeText(large)}`;
  return [
    absolute({
      name: `event loop delay, 99th percentile, ${fleet}`,
      unit: 'ms',
      value: loopDelayMs.p99,
      atMost: goals.loopP99Ms,
    }),
    absolute({
      name: `event loop delay, longest, ${fleet}`,
      unit: 'ms',
      value: loopDelayMs.max,
      atMost: goals.loopMaxMs,
    }),
    absolute({ name: `resident memory, ${fleet}`, unit: 'MB', value: maxResidentMb, atMost: goals.largeMb }),
    absolute({ name: `CPU, ${fleet}`, unit: 'CPU s/s', value: cpuRatio }),
    absolute({ name: `scrape, gzip, ${fleet}`, unit: 'ms', value: scrapeMs.gzip ?? Number.NaN }),
  ];
}

async function atWorkWith(size: FleetSize, installed: Program): Promise<AtWork> {
  const fleet = await startFleet(size, 'realistic');
  // Doubles the frequency of costly collectors, so that half a minute has all of them.
  const schedule = { schedule: '*/30 * * * * *' };
  const collectors = { backends: schedule, interfaces: schedule, summary: schedule, system: schedule };
  const startedAtMs = Date.now();
  const exporter = await startExporter(installed, { ...configuration(fleet), collectors });
  await firstTick(30, startedAtMs);
  const parts = {
    exporter,
    appliance: firstOf(fleet),
    encodings: ['plain', 'gzip'],
    scrapes: 5,
    everyMs: 3_000,
  } as const;
  const atWork = await watchAtWork(parts);
  await exporter.stop();
  await fleet.stop();
  return atWork;
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
