import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { startPrometheus } from '../../scripts/stack/server.ts';
import { parseDuration } from '../../src/lib/time.ts';
import { until } from '../../test/support/until.ts';
import { freePort } from '../free-port.ts';
import { inColumns } from '../results.ts';
import { createApplianceWorld, type Mood } from './appliance-worlds.ts';
import { readExporterPage } from './exporter-page.ts';
import { type FleetPages, scrapeSeconds, startFleetPages } from './fleet-pages.ts';

interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly unknown[];
}

interface EvaluatedGroup {
  readonly name: string;
  readonly evaluationTime: number;
  readonly rules: readonly {
    readonly name: string;
    readonly evaluationTime: number;
    readonly lastError?: string;
    readonly alerts?: readonly unknown[];
  }[];
}

interface Goal {
  readonly rule: number;
  readonly group: number;
}

const job = 'zlb';
const goals: Readonly<Record<Mood, Goal>> = { usual: { rule: 0.5, group: 5 }, bad: { rule: 2, group: 5 } };
/** Groups that wait longer are evaluated each minute; their share is that of their own interval. */
const longestWaitSeconds = 60;
const looks = 3;

// How long Prometheus takes for the rules of a fleet: `--appliances=100` has 625,000 series. Other
// files of rules may be named, to compare them.
const { values, positionals } = parseArgs({
  options: { appliances: { type: 'string', default: '20' } },
  allowPositionals: true,
});
const names = Array.from({ length: Number(values.appliances) }, (_, index) => `lb-${index + 1}`);
const files =
  positionals.length > 0
    ? positionals
    : ruleFiles.map((name) => fileURLToPath(new URL(`../../alerts/${name}`, import.meta.url)));
const groups = files.flatMap(
  (file) => (parse(readFileSync(file, 'utf8')) as { readonly groups: readonly RuleGroup[] }).groups,
);
const folder = mkdtempSync(join(tmpdir(), 'zlb-bench-'));
try {
  for (const mood of ['usual', 'bad'] as const) {
    const page = await readExporterPage(createApplianceWorld(mood, Date.now()));
    const pages = await startFleetPages(page, names, mood);
    try {
      report(mood, pages.series, await evaluate(pages, join(folder, mood)));
    } finally {
      pages.close();
    }
    rmSync(join(folder, mood), { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Returns the slowest of some evaluations of each group and each rule. */
async function evaluate({ address }: FleetPages, home: string): Promise<readonly EvaluatedGroup[]> {
  const hurried = groups.map((group) => ({
    ...group,
    interval: `${Math.min(intervalOf(group), longestWaitSeconds)}s`,
  }));
  const prometheus = await startPrometheus({
    folder: home,
    address: `127.0.0.1:${await freePort()}`,
    config: configuration(address),
    files: { 'zlb.rules.yml': stringify({ groups: hurried }) },
  });
  try {
    const scrapes = encodeURIComponent(`count(count_over_time(up{job="${job}"}[5m]) >= 2)`);
    await until(
      async () => (await ask(prometheus.url, `query?query=${scrapes}`)).result?.[0]?.value[1],
      (targets) => targets === String(names.length + 1),
      300_000,
    );
    const seen: (readonly EvaluatedGroup[])[] = [];
    while (seen.length < looks) {
      // The first evaluations have the first scrapes beside them.
      await delay(longestWaitSeconds * 1_000);
      seen.push((await ask(prometheus.url, 'rules')).groups ?? []);
    }
    return slowestOf(seen);
  } finally {
    await prometheus.stop();
  }
}

function slowestOf(seen: readonly (readonly EvaluatedGroup[])[]): readonly EvaluatedGroup[] {
  return (seen.at(-1) ?? []).map((group, place) => ({
    ...group,
    evaluationTime: Math.max(...seen.map((look) => look[place]?.evaluationTime ?? Number.NaN)),
    rules: group.rules.map((rule, index) => {
      if (rule.lastError) throw new Error(`Prometheus could not evaluate ${rule.name}: ${rule.lastError}`);
      const times = seen.map((look) => look[place]?.rules[index]?.evaluationTime ?? Number.NaN);
      return { ...rule, evaluationTime: Math.max(...times) };
    }),
  }));
}

/** Prints each group with its rules, and misses of the goals. */
function report(mood: Mood, series: number, evaluated: readonly EvaluatedGroup[]): void {
  let total = 0;
  const rows = evaluated.flatMap(({ name, evaluationTime, rules }) => {
    const group = groups.find((each) => each.name === name);
    const interval = group ? intervalOf(group) : Number.NaN;
    const row = (what: string, seconds: number, alerts?: number) => [
      what,
      `${seconds.toFixed(3)} s`,
      `${interval} s`,
      `${((100 * seconds) / interval).toFixed(2)} %`,
      alerts === undefined ? '' : String(alerts),
    ];
    total += evaluationTime / interval;
    return [
      row(name, evaluationTime),
      ...rules.map((rule) => row(`  ${rule.name}`, rule.evaluationTime, rule.alerts?.length)),
    ];
  });
  console.log(`\nAlert rules, ${mood === 'bad' ? 'all is down' : 'a usual day'}: ${series} series`);
  console.log(inColumns([['group, rule', 'slowest of three', 'interval', 'of one core', 'alerts'], ...rows]));
  console.log(`All together: ${(100 * total).toFixed(1)} % of one core`);
  const slow = evaluated.flatMap(({ name, evaluationTime, rules }) => [
    ...(evaluationTime > goals[mood].group ? [name] : []),
    ...rules.filter((rule) => rule.evaluationTime > goals[mood].rule).map((rule) => rule.name),
  ]);
  if (slow.length > 0) {
    console.log(`Slower than the goal: ${slow.join(', ')}`);
    process.exitCode = 1;
  }
}

function intervalOf({ interval = `${scrapeSeconds}s` }: RuleGroup): number {
  return (parseDuration(interval) ?? Number.NaN) / 1_000;
}

/** One target per appliance, as README.md has it. JSON is YAML. */
function configuration(address: string): string {
  const target = (labels: Readonly<Record<string, string>>) => ({ targets: [address], labels });
  const every = `${scrapeSeconds}s`;
  return JSON.stringify({
    global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
    rule_files: ['zlb.rules.yml'],
    scrape_configs: [
      {
        job_name: job,
        static_configs: [
          target({ instance: 'exporter' }),
          ...names.map((name) => target({ instance: name, __metrics_path__: '/probe', __param_target: name })),
        ],
      },
    ],
  });
}

interface Answer {
  readonly result?: readonly { readonly value: readonly [number, string] }[];
  readonly groups?: readonly EvaluatedGroup[];
}

async function ask(prometheus: string, path: string): Promise<Answer> {
  return ((await (await fetch(`${prometheus}/api/v1/${path}`)).json()) as { readonly data: Answer }).data;
}
