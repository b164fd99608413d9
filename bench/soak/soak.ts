import { rmSync } from 'node:fs';
import { sleep } from '../../src/lib/sleep.ts';
import { until } from '../../test/support/until.ts';
import { createCanarySearch } from './canaries.ts';
import { createConfiguration, entryOf } from './configuration.ts';
import { startExporterProcess } from './exporter-process.ts';
import { faultPart } from './fault-part.ts';
import { wholeRun } from './whole-run.ts';
import type { Finding } from './finding.ts';
import { startFleet } from './fleet.ts';
import { hangingPart } from './hanging-part.ts';
import { createPace } from './pace.ts';
import { createPageReader } from './page-reader.ts';
import { planAppliances } from './plan.ts';
import { createRandom } from './random.ts';
import { reloadPart } from './reload-part.ts';
import type { Part, SoakOptions, Stage } from './stage.ts';
import { createWaits } from './waits.ts';
import { createWatch } from './watch.ts';

const runPart: { readonly [Name in Part]: (stage: Stage) => Promise<readonly Finding[]> } = {
  reload: reloadPart,
  hanging: hangingPart,
  faults: faultPart,
};

/** Until every collector had its first turn, and its next one by the schedule. */
const warmUpCycles = 4;

/** Starts everything, runs the parts one after the other on the same exporter, and says what was found. */
export async function runSoak(options: SoakOptions): Promise<readonly Finding[]> {
  const { parts, appliances, cycleSeconds, webConfig, promtool, seed, say, signal } = options;
  const pace = createPace(cycleSeconds);
  const plan = planAppliances(appliances);
  const closers: (() => unknown)[] = [];
  try {
    const configuration = await createConfiguration({ pace, webConfig, reloads: parts.has('reload') });
    closers.push(() => rmSync(configuration.folder, { recursive: true }));
    const fleet = await startFleet(plan.toStart);
    closers.push(() => fleet.close());
    const entries = fleet.appliances.filter(({ name }) => plan.configured.includes(name)).map(entryOf);
    configuration.write(entries);
    configuration.writeListed([]);
    const secrets = configuration.tls.key.split('\n').filter((line) => line.length > 40 && !line.startsWith('-'));
    const search = createCanarySearch(secrets);
    const exporter = await startExporterProcess(configuration.args, search);
    closers.push(() => exporter.kill());
    const reader = createPageReader(exporter, configuration.scrapeHeaders);
    closers.push(() => reader.close());
    const waits = createWaits([exporter.pid, ...fleet.pids]);
    const watch = createWatch({ pid: exporter.pid, reader, fleet, pace, search, waits, promtool });
    const stage = {
      options,
      pace,
      plan,
      random: createRandom(seed),
      fleet,
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
    findings.push(...(await wholeRun(stage, search)));
    return findings;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** What was found until then is worth telling. */
function endedEarly(part: Part, error: unknown): Finding {
  return { part, name: 'came to its end', value: String(error), goal: 'yes', holds: false };
}
