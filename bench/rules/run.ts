import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { absolute, type Result, table } from '../results.ts';
import { createApplianceWorld, type Mood, size } from './appliance-worlds.ts';
import { readExporterPage } from './exporter-page.ts';
import { remember, writeBlocks } from './history.ts';
import { pastSamples } from './past.ts';
import { bySeconds, sceneReport } from './report.ts';
import { readSamples } from './samples.ts';
import { play, type Played, type SceneParts } from './scene.ts';
import { evaluationSeconds, type MeasuredRules, readRules, shippedRules } from './measured-rules.ts';
import { badForSeconds, createStory } from './story.ts';

const appliances = Array.from({ length: 100 }, (_, index) => `lb-${String(index + 1).padStart(3, '0')}`);
const ruleGoalSeconds = 1;

/** How long real Prometheus takes for rules on a large fleet; prints every group. */
export async function ruleResults(file = shippedRules): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
  try {
    const fleet = await prepareFleet(readRules(file), join(folder, 'past'));
    const results: Result[] = [];
    for (const mood of ['usual', 'bad'] as const) {
      const played = await play({ ...fleet, folder: join(folder, mood), mood });
      rmSync(join(folder, mood), { recursive: true });
      console.log(`${sceneReport(played)}\n`);
      results.push(...resultsOf(played));
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The past that both scenes have in common: until shortly before the bad day began. What is newer Prometheus has in memory. */
async function prepareFleet(rules: MeasuredRules, folder: string): Promise<Omit<SceneParts, 'folder' | 'mood'>> {
  const usual = readSamples(await readExporterPage(createApplianceWorld('usual', Date.now())));
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const untilSeconds = nowSeconds - badForSeconds;
  const fromSeconds = nowSeconds - Math.max(...rules.lookBacks.map((each) => each.fromSeconds));
  const samples = pastSamples(usual, createStory('usual', nowSeconds), 'usual', nowSeconds);
  const past = remember(samples, rules.lookBacks, nowSeconds);
  await writeBlocks(folder, { fromSeconds, toSeconds: untilSeconds }, past, appliances);
  return { appliances, rules, usual, past: { folder, untilSeconds } };
}

const days: Readonly<Record<Mood, string>> = { usual: 'a usual day', bad: 'a day when all is down' };

/** On a bad day it is enough that evaluations keep up with their interval: what they say is known by then. */
function resultsOf({ mood, groups }: Played): Result[] {
  const fleet = `${appliances.length} appliances × ${size.farms} farms × ${size.backends} backends, ${days[mood]}`;
  const [rule] = bySeconds(groups.flatMap(({ rules }) => rules));
  const [group] = bySeconds(groups);
  return [
    absolute({
      name: `alert rules, ${fleet}: evaluation of the slowest rule, ${rule?.name}`,
      unit: 's',
      value: rule?.seconds ?? Number.NaN,
      ...(mood === 'usual' ? { atMost: ruleGoalSeconds } : {}),
    }),
    absolute({
      name: `alert rules, ${fleet}: evaluation of the slowest group, ${group?.name}`,
      unit: 's',
      value: group?.seconds ?? Number.NaN,
      atMost: evaluationSeconds,
    }),
  ];
}

// Another file of rules may be named, to compare expressions.
if (import.meta.main) console.log(table(await ruleResults(process.argv[2])));
