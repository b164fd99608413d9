import { isThere } from '../../test/support/programs.ts';
import { table } from './finding.ts';
import { readOptions } from './options.ts';
import { writeSoakResults } from './soak-results.ts';
import { runSoak } from './soak.ts';

const leaving = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort());

const options = readOptions(process.argv.slice(2));
const findings = await runSoak({
  ...options,
  promtool: isThere('promtool'),
  signal: leaving.signal,
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
console.log(`\n${table(findings)}`);
writeSoakResults(options, findings);
process.exitCode = findings.some(({ holds }) => holds === false) ? 1 : 0;
