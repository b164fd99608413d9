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
import { freePort } from '../../test/support/free-port.ts';
import { percentile } from '../measure.ts';
import { inColumns } from '../results.ts';
import { createApplianceWorld, type Mood } from './appliance-worlds.ts';
import { readExporterPage } from './exporter-page.ts';
import { type FleetPages, scrapeSeconds, startFleetPages } from './fleet-pages.ts';

interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly unknown[];
}

/** A group or a rule as Prometheus evaluated it; rules have no rules. */
interface Evaluated {
  readonly name: string;
  readonly evaluationTime: number;
  readonly lastError?: string;
  readonly alerts?: readonly unknown[];
  readonly rules?: readonly Evaluated[];
}

interface Cost {
  readonly of: Evaluated;
  readonly seconds: number;
  readonly intervalSeconds: number;
}

const days: readonly Mood[] = ['usual', 'rack', 'bad'];
const job = 'zlb';
const groupGoalSeconds = 5;
const ruleGoalSeconds: Readonly<Record<Mood, number>> = { usual: 0.5, rack: 2, bad: 2 };
const words: Readonly<Record<Mood, string>> = {
  usual: 'a usual day',
  rack: 'every second backend is down',
  bad: 'all is down',
};
/** Groups that wait longer are evaluated each minute; their share is that of their own interval. */
const longestWaitSeconds = 60;
const looks = 3;

// How long Prometheus takes for the rules of a fleet: `--appliances=100` has 587,000 series. `--day=rack`
// measures this day alone. Other files of rules may be named, to compare them.
const { values, positionals } = parseArgs({
  options: {
    appliances: { type: 'string', default: '20' },
    day: { type: 'string', multiple: true, default: [...days] },
  },
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
process.once('exit', () => rmSync(folder, { recursive: true }));
const measured = days.filter((day) => values.day.includes(day));
if (measured.length === 0) throw new Error(`--day is one of ${days.join(', ')}`);
for (const mood of measured) {
  const page = await readExporterPage(createApplianceWorld(mood, Date.now()));
  const pages = await startFleetPages(page, names, mood);
  report(mood, pages.series, costsOf(await evaluate(pages, join(folder, mood))));
  pages.close();
}

/** Returns what Prometheus says of the groups, a minute apart. */
async function evaluate({ address }: FleetPages, home: string): Promise<readonly (readonly Evaluated[])[]> {
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
  const scrapes = encodeURIComponent(`count(count_over_time(up{job="${job}"}[5m]) >= 2)`);
  await until(
    async () => (await ask(prometheus.url, `query?query=${scrapes}`)).result?.[0]?.value[1],
    (targets) => targets === String(names.length + 1),
    300_000,
  );
  const seen: (readonly Evaluated[])[] = [];
  while (seen.length < looks) {
    // The first evaluations have the first scrapes beside them.
    await delay(longestWaitSeconds * 1_000);
    seen.push((await ask(prometheus.url, 'rules')).groups ?? []);
  }
  await prometheus.stop();
  return seen;
}

/** Returns each group, followed by its rules. */
function costsOf(seen: readonly (readonly Evaluated[])[]): readonly Cost[] {
  const each = seen.map((evaluated) =>
    evaluated.flatMap((group) => {
      const intervalSeconds = intervalOf(groups.find(({ name }) => name === group.name) ?? {});
      return [group, ...(group.rules ?? [])].map((of) => ({ of, seconds: of.evaluationTime, intervalSeconds }));
    }),
  );
  return (each.at(-1) ?? []).map((cost, place) => {
    if (cost.of.lastError) throw new Error(`Prometheus could not evaluate ${cost.of.name}: ${cost.of.lastError}`);
    return {
      ...cost,
      seconds: percentile(
        each.map((costs) => costs[place]?.seconds ?? Number.NaN),
        0.5,
      ),
    };
  });
}

/** Prints each group with its rules, and misses of the goals. */
function report(mood: Mood, series: number, costs: readonly Cost[]): void {
  const rows = costs.map(({ of, seconds, intervalSeconds }) => [
    of.rules ? of.name : `  ${of.name}`,
    `${seconds.toFixed(3)} s`,
    `${intervalSeconds} s`,
    `${((100 * seconds) / intervalSeconds).toFixed(2)} %`,
    String(of.alerts?.length ?? ''),
  ]);
  const shares = costs.map(({ of, seconds, intervalSeconds }) => (of.rules ? seconds / intervalSeconds : 0));
  const total = shares.reduce((sum, share) => sum + share);
  console.log(`\nAlert rules, ${words[mood]}: ${series} series`);
  console.log(inColumns([['group, rule', 'median of three', 'interval', 'of one core', 'alerts'], ...rows]));
  console.log(`All together: ${(100 * total).toFixed(1)} % of one core`);
  const slow = costs.filter(({ of, seconds }) => seconds > (of.rules ? groupGoalSeconds : ruleGoalSeconds[mood]));
  if (slow.length > 0) {
    console.log(`Slower than the goal: ${slow.map(({ of }) => of.name).join(', ')}`);
    process.exitCode = 1;
  }
}

function intervalOf({ interval = `${scrapeSeconds}s` }: Partial<RuleGroup>): number {
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
  readonly groups?: readonly Evaluated[];
}

async function ask(prometheus: string, path: string): Promise<Answer> {
  return ((await (await fetch(`${prometheus}/api/v1/${path}`)).json()) as { readonly data: Answer }).data;
}
