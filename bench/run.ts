import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { isThere } from '../test/support/programs.ts';
import { textOf } from '../test/support/store-text.ts';
import { buildExporter } from './exporter.ts';
import { createFleet, fleetSize } from './fleet.ts';
import { alternate, timed } from './measure.ts';
import { sampleLines, toRegistry } from './prom-client-page.ts';
import { relayResults } from './relay.ts';
import { compare, type Result, table, writeResults } from './results.ts';
import type { Encoding } from './scraper.ts';
import { ruleResults } from './rules/run.ts';
import { scaleResults } from './scale/run.ts';
import { startServers } from './servers.ts';

const form = { format: 'text', encoding: 'identity' } as const;
const staticServer = '(reference: node:http sends the same bytes)';

buildExporter();
const fleet = await createFleet();
const servers = await startServers(fleet);
const results = [
  await unchangedPage('plain', 2),
  await unchangedPage('gzip', 2),
  await afterReadings('plain', 4),
  await afterReadings('gzip', 5),
  await afterAllReadings('plain', 8),
  await afterAllReadings('gzip', 8),
];
await servers.checkPage();
servers.close();
results.push(...(await againstPromClient()), ...(await relayResults()));
for await (const part of scaleResults()) results.push(...part);
if (isThere('prometheus') && isThere('promtool')) results.push(...(await ruleResults()));

const compressed = await fleet.store.page({ format: 'text', encoding: 'gzip' });
const series = fleetSize.appliances * fleetSize.seriesPerAppliance;
console.log(
  `${series} series, ${megabytes((await textOf(fleet.store)).length)} MB, compressed ${megabytes(compressed.bytes.length)} MB; ${availableParallelism()} cores; medians.\n`,
);
console.log(table(results));
writeResults(results);

/** Of the exporter's own metrics those of the process are rendered once a second, so most of these scrapes share them. */
async function unchangedPage(encoding: Encoding, goal: number): Promise<Result> {
  const [ours, reference] = await alternate(encoding === 'plain' ? 150 : 500, [
    () => servers.exporter.time(encoding),
    () => servers.fixed.time(encoding),
  ]);
  const name = `scrape of the unchanged page, ${encoding} ${staticServer}`;
  return compare({ name, unit: 'ms', ours, reference, goal: { atMost: goal } });
}

/** Only the scrape is timed; what taking readings costs is a result of its own. */
async function afterReadings(encoding: Encoding, goal: number): Promise<Result> {
  const appliance = takingTurns();
  const [ours, reference] = await alternate(150, [
    async () => {
      await servers.takeReadings(appliance());
      return await servers.exporter.time(encoding);
    },
    () => servers.fixed.time(encoding),
  ]);
  const name = `scrape after 1 of ${fleetSize.appliances} appliances has new readings, ${encoding} ${staticServer}`;
  return compare({ name, unit: 'ms', ours, reference, goal: { atMost: goal } });
}

/** The same after every appliance has new readings. */
async function afterAllReadings(encoding: Encoding, goal: number): Promise<Result> {
  const [ours, reference] = await alternate(20, [
    async () => {
      for (const appliance of fleet.appliances) await servers.takeReadings(appliance);
      return await servers.exporter.time(encoding);
    },
    () => servers.fixed.time(encoding),
  ]);
  const name = `scrape after all ${fleetSize.appliances} appliances have new readings, ${encoding} ${staticServer}`;
  return compare({ name, unit: 'ms', ours, reference, goal: { atMost: goal } });
}

/** In one process and without HTTP: what an exporter does for a scrape before it has bytes to send. */
async function againstPromClient(): Promise<Result[]> {
  const page = await textOf(fleet.store);
  const registry = toRegistry(page);
  if (!isDeepStrictEqual(sampleLines(await registry.metrics()), sampleLines(page)))
    throw new Error('prom-client renders other series');
  const appliance = takingTurns();
  const [take, join, render] = await alternate(30, [
    async () => {
      const name = appliance();
      const readings = await fleet.collect(name);
      return await timed(async () => {
        fleet.take(name, readings);
        // Resolves once the readings are rendered and compressed; the page of nobody takes no time.
        await fleet.store.page(form, new Set());
      });
    },
    () => timed(() => fleet.store.page(form)),
    () => timed(() => registry.metrics()),
  ]);
  return [
    compare({
      name: 'joining the page after new readings (reference: prom-client renders the same series)',
      unit: 'ms',
      ours: join,
      reference: render,
      goal: { atMost: 0.05 },
    }),
    compare({
      name: `taking readings of ${fleetSize.seriesPerAppliance} series (reference: prom-client renders all series)`,
      unit: 'ms',
      ours: take,
      reference: render,
      goal: { atMost: 0.1 },
    }),
  ];
}

function takingTurns(): () => string {
  let turn = 0;
  return () => fleet.appliances[turn++ % fleet.appliances.length] ?? '';
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
