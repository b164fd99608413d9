import { availableParallelism } from 'node:os';
import { isThere } from '../../test/support/programs.ts';
import { buildExporter } from '../exporter.ts';
import { type Result, table } from '../results.ts';
import { seriesOf, watchAtWork } from './at-work.ts';
import { growthResults } from './growth.ts';
import { againstHaproxyExporter, haproxyExporter } from './haproxy.ts';
import { loadedResults } from './loaded.ts';
import { machineResults } from './machine.ts';

/** What the goals are about: some 250,000 series. */
const held = { appliances: 100, farms: 50, backendsPerFarm: 3 };
/** As many backends as the goals name, which make twice the series. */
const full = { appliances: 100, farms: 50, backendsPerFarm: 10 };

/** Of fewer rounds the 99th percentile is what the machine did in two or three of them. */
const usual = { rareScrapes: 6, rounds: 600 };

const parts: Readonly<Record<string, () => Promise<Result[]>>> = {
  async held() {
    const machine = machineResults();
    const { atWork, beside } = await watchAtWork({ size: held, ...usual }, async ({ exporter }) => {
      if (!isThere(haproxyExporter)) return [];
      const { body } = await exporter.scrape('plain');
      return await againstHaproxyExporter(exporter, seriesOf(body));
    });
    return [...machine, ...loadedResults(atWork, true), ...beside];
  },
  async full() {
    const { atWork } = await watchAtWork({ size: full, ...usual, rounds: 100 }, () => Promise.resolve());
    return loadedResults(atWork, false);
  },
  growth: growthResults,
};

/** The whole exporter on fleets of simulated appliances, part by part: some twenty minutes. */
export async function* scaleResults(names: readonly string[] = Object.keys(parts)): AsyncGenerator<Result[]> {
  for (const name of names) {
    const measure = parts[name];
    if (!measure) throw new Error(`there is no part ${name}, but ${Object.keys(parts).join(', ')}`);
    yield await measure();
  }
}

// Parts may be named.
if (import.meta.main) {
  buildExporter();
  console.log(`${availableParallelism()} cores, shared with the simulated appliances and the scraper.\n`);
  const chosen = process.argv.slice(2);
  for await (const results of scaleResults(chosen.length > 0 ? chosen : undefined)) console.log(`${table(results)}\n`);
}
