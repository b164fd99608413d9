import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { absolute, inColumns, type Result, table } from '../results.ts';
import { createApplianceWorld, type Mood, size } from './appliance-worlds.ts';
import { readExporterPage, readSamples } from './exporter-page.ts';
import { pastSamples, remember, writeBlocks } from './history.ts';
import { evaluationSeconds, type MeasuredRules, readRules } from './measured-rules.ts';
import { play, type Played, type SceneParts } from './scene.ts';
import { badForSeconds, createStory } from './story.ts';

const shippedRules = ruleFiles.map((name) => fileURLToPath(new URL(`../../alerts/${name}`, import.meta.url)));
const appliances = Array.from({ length: 100 }, (_, index) => `lb-${String(index + 1).padStart(3, '0')}`);
const days: Readonly<Record<Mood, string>> = { usual: 'a usual day', bad: 'a day when all is down' };
const maxRuleSeconds: Readonly<Record<Mood, number>> = { usual: 0.5, bad: 2 };
const shownRules = 5;

// How long real Prometheus takes for the rules of a large fleet. Other files of rules may be named,
// to compare expressions.
const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
const results: Result[] = [];
try {
  const fleet = await prepareFleet(
    readRules(process.argv[2] === undefined ? shippedRules : process.argv.slice(2)),
    join(folder, 'past'),
  );
  for (const mood of ['usual', 'bad'] as const) {
    const played = await play({ ...fleet, folder: join(folder, mood), mood });
    rmSync(join(folder, mood), { recursive: true });
    console.log(`${report(played)}\n`);
    results.push(...resultsOf(played));
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(table(results));
process.exitCode = results.some(({ held }) => held === false) ? 1 : 0;

/**
 * The past that both scenes have in common: until shortly before the bad day began. Prometheus has
 * newer samples in memory.
 */
async function prepareFleet(rules: MeasuredRules, past: string): Promise<Omit<SceneParts, 'folder' | 'mood'>> {
  const usual = readSamples(await readExporterPage(createApplianceWorld('usual', Date.now())));
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const untilSeconds = nowSeconds - badForSeconds;
  const fromSeconds = nowSeconds - Math.max(...rules.lookBacks.map((each) => each.fromSeconds));
  const samples = pastSamples(usual, createStory('usual', nowSeconds));
  const remembered = remember(samples, rules.lookBacks, nowSeconds);
  await writeBlocks(past, { fromSeconds, toSeconds: untilSeconds }, remembered, appliances);
  return { appliances, rules, usual, past: { folder: past, untilSeconds } };
}

function resultsOf({ mood, groups }: Played): Result[] {
  const fleet = `${appliances.length} appliances × ${size.farms} farms × ${size.backends} backends, ${days[mood]}`;
  const slowest = (what: string, [first]: readonly Timed[], atMost: number): Result =>
    absolute({
      name: `alert rules, ${fleet}: evaluation of the slowest ${what}, ${first?.name}`,
      unit: 's',
      value: first?.seconds ?? Number.NaN,
      atMost,
    });
  return [
    slowest('rule', bySeconds(groups.flatMap(({ rules }) => rules)), maxRuleSeconds[mood]),
    slowest('group', bySeconds(groups), evaluationSeconds),
  ];
}

/** Returns what Prometheus says of its groups, and of the slowest of their rules. */
function report({ mood, series, groups }: Played): string {
  const rules = groups.flatMap((group) => group.rules);
  const alerts = rules.reduce((sum, rule) => sum + rule.alerts, 0);
  const time = (seconds: number) => `${seconds.toFixed(3)} s`;
  return [
    `Alert rules, ${days[mood]}: ${series} series, ${alerts} alerts fire.`,
    `The slowest of three evaluations. Every group is evaluated each ${evaluationSeconds} s; no alert waits.\n`,
    inColumns([
      ['group', 'rules', 'evaluation'],
      ...groups.map((group) => [group.name, String(group.rules.length), time(group.seconds)]),
    ]),
    '',
    inColumns([
      ['slowest rules', 'alerts', 'evaluation'],
      ...bySeconds(rules)
        .slice(0, shownRules)
        .map((rule) => [rule.name, String(rule.alerts), time(rule.seconds)]),
    ]),
  ].join('\n');
}

interface Timed {
  readonly name: string;
  readonly seconds: number;
}

/** The slowest first. */
function bySeconds<Each extends Timed>(all: readonly Each[]): readonly Each[] {
  return all.toSorted((a, b) => b.seconds - a.seconds);
}
