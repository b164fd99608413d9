import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../src/lib/time.ts';
import { until } from '../../test/support/until.ts';
import { type CanarySearch, createCanarySearch } from './canaries.ts';
import type { ClientCalls } from './client-process.ts';
import { createConfiguration, entryOf } from './configuration.ts';
import { faultPart } from './fault-part.ts';
import { atLeast, type Finding, none } from './finding.ts';
import { startFleet } from './fleet.ts';
import { hangingPart } from './hanging-part.ts';
import { createPageReader, startWatchedExporter } from './exporter.ts';
import { createPace, planAppliances } from './plan.ts';
import { createWaits } from './punctuality.ts';
import { createRandom } from '../random.ts';
import { reloadPart } from './reload-part.ts';
import type { Part, SoakOptions, Stage } from './stage.ts';
import { createWatch, type Problem, problems } from './watch.ts';
import { startWorker } from '../worker.ts';

const runPart: { readonly [Name in Part]: (stage: Stage) => Promise<readonly Finding[]> } = {
  reload: reloadPart,
  hanging: hangingPart,
  faults: faultPart,
};

/** Until every collector had its first turn, and its next one by the schedule. */
const warmUpCycles = 4;

/**
 * Starts everything, runs the parts one after the other on the same exporter, and says what was
 * found.
 */
export async function runSoak(options: SoakOptions): Promise<readonly Finding[]> {
  const { parts, program, appliances, cycleSeconds, promtool, seed, say, signal } = options;
  const pace = createPace(cycleSeconds);
  const plan = planAppliances(appliances);
  const closers: (() => unknown)[] = [];
  try {
    const configuration = createConfiguration({ pace, reloads: parts.includes('reload') });
    closers.push(() => rmSync(configuration.folder, { recursive: true }));
    const fleet = await startFleet(plan.toStart);
    closers.push(() => fleet.close());
    const clients = startWorker<ClientCalls>(new URL('client-process.ts', import.meta.url));
    closers.push(() => clients.stop());
    const entries = fleet.appliances.filter(({ name }) => plan.configured.includes(name)).map(entryOf);
    configuration.write(entries);
    configuration.writeListed([]);
    const secrets = configuration.tls.key.split('\n').filter((line) => line.length > 40 && !line.startsWith('-'));
    const search = createCanarySearch(secrets);
    const exporter = await startWatchedExporter(program, configuration.args, search);
    closers.push(() => exporter.kill());
    const reader = createPageReader(exporter, configuration.scrapeHeaders);
    closers.push(() => reader.close());
    const waits = createWaits([exporter.pid, ...fleet.pids]);
    const watch = createWatch({ pid: exporter.pid, reader, fleet, pace, search, waits, promtool });
    const stage = {
      options,
      startedAtMs: Date.now(),
      pace,
      plan,
      random: createRandom(seed),
      fleet,
      clients,
      configuration,
      secrets,
      exporter,
      reader,
      watch,
      waits,
    };

    say(`${appliances} appliances, seed ${seed}; waiting until all have been read`);
    await until(
      async () => (await reader.read('/-/ready')).status,
      (status) => status === 200,
      120_000,
    );
    await sleep(warmUpCycles * pace.cycleMs, signal);
    const findings: Finding[] = [];
    for (const part of parts) {
      if (signal.aborted) break;
      say(`${part} …`);
      findings.push(...(await runPart[part](stage).catch((error: unknown) => [endedEarly(part, error)])));
    }
    // A part that ended early has left them there.
    await clients.stop();
    findings.push(...(await wholeRun(stage, search)));
    return findings;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Returns a finding for a part that ended early; earlier findings are still reported. */
function endedEarly(part: Part, error: unknown): Finding {
  return { part, name: 'came to its end', value: String(error), goal: 'yes', holds: false };
}

const names: { readonly [Name in Problem]: string } = {
  unanswered: 'scrapes without an answer',
  invalid: 'pages that are not valid',
  counter: 'counters that fell or went away',
  steady: 'series lost of appliances to which nothing happened',
  up: 'up without an authenticated answer in time',
  stale: 'late or down, of appliances to which nothing happened',
  leak: 'secrets on pages',
};

/** Checks the run as a whole; ends the exporter. */
async function wholeRun({ configuration, exporter, watch }: Stage, search: CanarySearch): Promise<Finding[]> {
  const code = await exporter.stop();
  const audit = auditFiles(join(configuration.folder, 'audit'));
  const leaks = audit.flatMap((text) => search.findIn(text) ?? []);
  const { lines, unexpected } = exporter.output;
  const part = 'whole run';
  return [
    atLeast(part, 'pages read', watch.over, 5),
    atLeast(part, 'counters compared', watch.comparedCounters, 1_000),
    atLeast(part, 'times an appliance was seen up', watch.seen.up, 1),
    { part, name: 'times an appliance was seen down', value: `${watch.seen.down}` },
    ...problems.map((problem) => none(part, names[problem], watch.problems[problem])),
    { part, name: 'lines of log', value: `${lines}` },
    none(part, 'warnings, errors and stray lines of the process', unexpected),
    none(part, 'secrets in the output of the process', exporter.output.leaks),
    none(part, 'secrets in the audit', leaks),
    { part, name: 'exit code', value: `${code}`, goal: '0', holds: code === 0 },
  ];
}

function auditFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
}
