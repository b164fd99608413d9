import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { growthResults, largeFleetResults, oneApplianceResults } from './fleets.ts';
import { type Builds, installBuilds } from './installed.ts';
import { loadResults } from './load/load-results.ts';
import { pageResults } from './pages.ts';
import { requestResults } from './requests.ts';
import { absolute, failed, type Result, runFacts, table } from './results.ts';
import { runStep } from './step.ts';

const maxSeconds = 1_500;
const maxSecondsOfStep = 900;
const script = fileURLToPath(import.meta.url);

const steps: Readonly<Record<string, (builds: Builds) => Promise<readonly Result[]>>> = {
  '10 million lines of requests': requestResults,
  'the load on an appliance': loadResults,
  'a page of 100,000 series': pageResults,
  'one appliance': oneApplianceResults,
  '100 appliances at work': largeFleetResults,
  'growth to 1,000 appliances': growthResults,
};

const [step, builds] = process.argv.slice(2);
if (step === undefined || builds === undefined) process.exit(await runAll(step));
process.stdout.write(JSON.stringify(await measure(step, JSON.parse(builds) as Builds)));
process.exit(0);

/** Runs all steps, or those with this word in their names; returns the exit code. */
async function runAll(word = ''): Promise<number> {
  // Steps are groups of their own, which no terminal ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const startedAtMs = performance.now();
  const secondsSinceStart = (): number => Math.round((performance.now() - startedAtMs) / 1_000);
  const say = (line: string): void => console.log(`${String(secondsSinceStart()).padStart(4)} s  ${line}`);
  const facts = runFacts();
  say('packing and installing the exporter, and the older commit');
  const { remove, ...installed } = installBuilds();
  const results: Result[] = [];
  for (const name of Object.keys(steps).filter((each) => each.includes(word))) {
    say(name);
    const words = [script, name, JSON.stringify(installed)];
    results.push(...(await runStep({ name, words, maxSeconds: maxSecondsOfStep })));
  }
  remove();
  const seconds = secondsSinceStart();
  results.push(absolute({ name: 'all of npm run bench', unit: 's', value: seconds, atMost: maxSeconds }));
  const missed = results.filter(({ held }) => held === false).length;
  console.log(`\n${table(results)}\n`);
  console.log(`${results.filter(({ held }) => held).length} goals held, ${missed} missed; medians.`);
  const written = { ...facts, held: missed === 0, results };
  const file = new URL('results.json', import.meta.url);
  if (word === '') writeFileSync(file, `${JSON.stringify(written, undefined, 2)}\n`);
  return missed === 0 ? 0 : 1;
}

/** Makes the measurements of a step. */
async function measure(name: string, installed: Builds): Promise<readonly Result[]> {
  try {
    return (await steps[name]?.(installed)) ?? [];
  } catch (error) {
    console.error(error);
    return [failed(name, String(error))];
  }
}
