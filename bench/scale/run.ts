import { availableParallelism } from 'node:os';
import { isThere } from '../../test/support/programs.ts';
import { type Result, table } from '../results.ts';
import { seriesOf, watchAtWork } from './at-work.ts';
import { growthResults } from './growth.ts';
import { againstHaproxyExporter, haproxyExporter } from './haproxy.ts';
import { loadedResults } from './loaded.ts';

/** What the goals are about: some 250,000 series. */
const held = { appliances: 100, farms: 50, backendsPerFarm: 3 };
/** As many backends as the goals name, which make twice the series. */
const full = { appliances: 100, farms: 50, backendsPerFarm: 10 };
/** As `npm start` and the image start it. */
const nodeOptions = ['--max-semi-space-size=8'];

/** The whole exporter on fleets of simulated appliances. Five minutes. */
export async function scaleResults(): Promise<Result[]> {
  const usual = { rareScrapes: 6, rounds: 150, nodeOptions };
  const { atWork, beside } = await watchAtWork({ size: held, ...usual }, async ({ exporter }) => {
    if (!isThere(haproxyExporter)) return [];
    const { body } = await exporter.scrape('plain');
    return await againstHaproxyExporter(exporter, seriesOf(body));
  });
  const { atWork: atFull } = await watchAtWork({ size: full, ...usual, rounds: 100 }, () => Promise.resolve());
  return [
    ...loadedResults(atWork, true),
    ...beside,
    ...loadedResults(atFull, false),
    ...(await growthResults(nodeOptions)),
  ];
}

if (import.meta.main) {
  console.log(`${availableParallelism()} cores, shared with the simulated appliances and the scraper.\n`);
  console.log(table(await scaleResults()));
}
