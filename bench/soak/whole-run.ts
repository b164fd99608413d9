import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CanarySearch } from './canaries.ts';
import { atLeast, type Finding, none } from './finding.ts';
import type { Stage } from './stage.ts';
import { type Problem, problems } from './watch.ts';

const names: { readonly [Name in Problem]: string } = {
  invalid: 'pages that are not valid',
  counter: 'counters that fell or went away',
  steady: 'series lost of appliances to which nothing happened',
  up: 'up without an authenticated answer in time',
  stale: 'late or down, of appliances to which nothing happened',
  leak: 'secrets on pages',
};

/** What holds for the run as a whole; ends the exporter. */
export async function wholeRun({ configuration, exporter, watch }: Stage, search: CanarySearch): Promise<Finding[]> {
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
