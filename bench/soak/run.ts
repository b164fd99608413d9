import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isThere } from '../../test/support/programs.ts';
import { installPackage } from '../installed.ts';
import { runFacts } from '../results.ts';
import { table } from './finding.ts';
import { runSoak } from './soak.ts';
import { type Part, parts, troubles } from './stage.ts';

const leaving = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leaving.abort());

const { values } = parseArgs({
  options: {
    // Memory is judged over the last half, if that is an hour.
    minutes: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: parts.join() },
  },
});
const options = {
  parts: values.only.split(',').map(partNamed),
  minutes: positive('minutes', values.minutes),
  troubleMinutes: Math.max(positive('minutes', values.minutes) / 40, 2 / 3),
  troubles,
  appliances: 100,
  reloads: 1_000,
  cycleSeconds: 10,
  scrapeEveryMs: 5_000,
  // They keep the listeners full of connections nearly all the time.
  clients: 24,
  herd: 1_000,
  seed: positive('seed', values.seed),
};
const facts = runFacts();
say('packing and installing the exporter');
const installed = installPackage();
const findings = await runSoak({
  ...options,
  program: [installed.command],
  promtool: isThere('promtool'),
  signal: leaving.signal,
  say,
}).finally(() => installed.remove());
const missed = findings.filter(({ holds }) => holds === false);
const results = { ...facts, endedAt: new Date().toISOString(), holds: missed.length === 0, options, findings };
writeFileSync(new URL('../soak-results.json', import.meta.url), `${JSON.stringify(results, undefined, 2)}\n`);
console.log(`\n${table(findings)}\n`);
for (const { part, name, value, goal } of missed) console.log(`NOT HELD: ${part}: ${name}: ${value} (goal: ${goal})`);
process.exitCode = missed.length === 0 ? 0 : 1;

function say(line: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
}

function partNamed(name: string): Part {
  const part = parts.find((each) => each === name);
  if (!part) throw new Error(`--only=${name} is no part; the parts are ${parts.join(', ')}`);
  return part;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}=${text} has to be a number above 0`);
  return value;
}
