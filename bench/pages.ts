import { setTimeout as pause } from 'node:timers/promises';
import { collectorDefaults } from '../src/collectors/registry.ts';
import { startExporter } from './exporter.ts';
import { type Fleet, startFleet } from './fleet.ts';
import type { Builds } from './installed.ts';
import { medians } from './measure.ts';
import { readingResults } from './reading.ts';
import { type Reference, seriesOf, startPromClient, startStaticServer } from './references.ts';
import { compare, type Result } from './results.ts';
import { createScraper, type Encoding, type Scraper } from './scraper.ts';

/** About 100,000 series. */
const size = { appliances: 40, farms: 20, backendsPerFarm: 12 };
const maxOfPromClient = 1 / 8;
const promClientRounds = 5;

/** A page of which some appliances have new readings at each scrape. */
interface Case {
  readonly name: string;
  readonly changing: number;
  /** Seconds between two readings of an appliance that changes. */
  readonly everySeconds: number;
  readonly rounds: number;
  /** The most that it may take, plain, of a server that sends the same bytes, as a ratio. */
  readonly atMost: number;
}

const unchanged: Case = { name: 'unchanged', changing: 0, everySeconds: 0, rounds: 200, atMost: 2 };
const oneChanged: Case = {
  name: 'after 1 of 40 changed',
  changing: 1,
  everySeconds: 1,
  rounds: 12,
  atMost: 4,
};
const allChanged: Case = {
  name: 'after all 40 changed',
  changing: 40,
  everySeconds: 4,
  rounds: 5,
  atMost: 8,
};

/** Measures scrapes of a page of 100,000 series, and the rendering of readings beside that of all of it. */
export async function pageResults({ ours }: Builds): Promise<Result[]> {
  const fleet = await startFleet(size, 'none');
  const results: Result[] = [];
  let page = '';
  for (const each of [unchanged, oneChanged, allChanged]) {
    const exporter = await startExporter(ours, configuration(fleet, each));
    const scraper = createScraper(exporter.url);
    page = await changedPage(scraper, each);
    const fixed = {
      start: () => startStaticServer(scraper),
      about: 'node:http sends the same bytes',
      rounds: each.rounds,
      // After a change a page is compressed again, which that server need not do.
      encodings: ['plain'] as const,
      atMost: each.atMost,
    };
    results.push(...(await against(fixed, scraper, each, page)));
    const promClient = {
      start: () => startPromClient(page),
      about: 'registry.metrics() of prom-client',
      rounds: promClientRounds,
      encodings: ['plain', 'gzip'] as const,
      atMost: maxOfPromClient,
    };
    if (each === oneChanged) results.push(...(await against(promClient, scraper, each, page)));
    scraper.close();
    await exporter.stop();
  }
  await fleet.stop();
  return [...results, await readingResults(page)];
}

/** The appliances that change are read again and again, the others once at the start. */
function configuration({ entries }: Fleet, { changing, everySeconds }: Case): object {
  const never = { schedule: '0 0 0 1 * *', max_stale: '60d' };
  const often = { schedule: `*/${everySeconds} * * * * *`, max_stale: '60s' };
  return {
    appliances: entries.map((entry, index) =>
      index < changing ? { ...entry, collectors: { farms: often, backends: often } } : entry,
    ),
    collectors: Object.fromEntries([...collectorDefaults.keys()].map((name) => [name, never])),
    // The connections of backends are routine: with less they would not change at each scrape.
    polling: { max_busy_ratio: 1, routine_busy_ratio: 1, jitter: '0%' },
  };
}

/**
 * Returns the page at present; throws unless as many appliances as there should be changed since
 * the last scrape.
 */
async function changedPage(scraper: Scraper, { name, changing, everySeconds }: Case): Promise<string> {
  const connections = async (): Promise<readonly [page: string, lines: ReadonlySet<string>]> => {
    const page = (await scraper.scrape('plain')).body.toString();
    return [page, new Set(page.match(/^zlb_backend_established_connections\{.*$/gm))];
  };
  const [, before] = await connections();
  await pause(2 * everySeconds * 1_000);
  const [page, now] = await connections();
  const changed = new Set(
    [...now].filter((line) => !before.has(line)).map((line) => /appliance="(.*?)"/.exec(line)?.[1]),
  );
  if (changed.size !== changing) throw new Error(`${name}: ${changed.size} appliances changed`);
  return page;
}

/** A server that the exporter is compared with, and how it is named in the results. */
interface Comparison {
  readonly start: () => Promise<Reference>;
  readonly about: string;
  readonly rounds: number;
  readonly encodings: readonly Encoding[];
  readonly atMost: number;
}

async function against(
  { start, about, rounds, encodings, atMost }: Comparison,
  scraper: Scraper,
  { name, everySeconds }: Case,
  page: string,
): Promise<Result[]> {
  const server = await start();
  const results: Result[] = [];
  for (const encoding of encodings) {
    const [ours, reference] = await medians(rounds, [
      async () => {
        // Until the appliances that change have changed since the scrape before.
        await pause(everySeconds * 1_000);
        return await scraper.time(encoding);
      },
      () => server.scraper.time(encoding),
    ]);
    results.push(
      compare({
        name: `page of ${seriesOf(page).toLocaleString('en')} series, ${name}, ${encoding} (${about})`,
        unit: 'ms',
        ours,
        reference,
        atMost,
      }),
    );
  }
  await server.stop();
  return results;
}
