import { cpus, loadavg, release, totalmem } from 'node:os';
import { readBuildInfo } from '../src/app/build-info.ts';

/** Returns what a file of results says of its run: when, of which commit, and where. */
export function runFacts() {
  const { version, revision, nodeVersion } = readBuildInfo({});
  return {
    date: new Date().toISOString(),
    commit: revision,
    versions: { exporter: version, node: nodeVersion },
    machine: {
      processors: cpus().map(({ model }) => model),
      memoryBytes: totalmem(),
      kernel: release(),
      /**
       * The load of the last 1, 5 and 15 minutes before the run: others may use the machine too.
       */
      load: loadavg().map((load) => Number(load.toFixed(1))),
    },
  };
}
