import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { readBuildInfo } from '../../src/build-info.ts';
import type { Finding } from './finding.ts';
import type { ChosenOptions } from './options.ts';

/** Writes `bench/soak-results.json`: what was found, where, when and with which seed. */
export function writeSoakResults(options: ChosenOptions, findings: readonly Finding[]): void {
  const { version, nodeVersion } = readBuildInfo({});
  const results = {
    date: new Date().toISOString(),
    machine: { processors: cpus().map(({ model }) => model), memoryBytes: totalmem(), kernel: release() },
    versions: { exporter: version, node: nodeVersion },
    options: { ...options, parts: [...options.parts] },
    findings,
  };
  writeFileSync(new URL('../soak-results.json', import.meta.url), `${JSON.stringify(results, undefined, 2)}\n`);
}
