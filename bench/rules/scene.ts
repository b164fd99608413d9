import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startPrometheus } from '../../scripts/stack/server.ts';
import { until } from '../../test/support/until.ts';
import { freePort } from '../free-port.ts';
import { createApplianceWorld, type Mood } from './appliance-worlds.ts';
import { job, readExporterPage, readSamples, type Sample } from './exporter-page.ts';
import { pastSamples, remember } from './history.ts';
import type { MeasuredRules } from './measured-rules.ts';
import { createStory, scrapeSeconds } from './story.ts';
import { startTargets } from './targets.ts';

export interface SceneParts {
  /** A folder of its own. */
  readonly folder: string;
  readonly mood: Mood;
  readonly appliances: readonly string[];
  readonly rules: MeasuredRules;
  /** The samples of one appliance on a usual day. */
  readonly usual: readonly Sample[];
  /** Blocks up to a moment, in Unix seconds. */
  readonly past: { readonly folder: string; readonly untilSeconds: number };
}

export interface Played {
  readonly mood: Mood;
  readonly series: number;
  readonly groups: readonly GroupTime[];
}

const evaluations = 3;
/** All targets are scraped after two intervals, unless something else keeps the machine busy. */
const patienceMs = 300_000;

/**
 * Starts a Prometheus with the history of the fleet, lets it scrape the fleet and evaluate the
 * rules.
 */
export async function play({ folder, mood, appliances, rules, usual, past }: SceneParts): Promise<Played> {
  const page = await readExporterPage(createApplianceWorld(mood, Date.now()));
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const story = createStory(mood, nowSeconds);
  cpSync(past.folder, join(folder, 'data'), { recursive: true });
  const targets = await startTargets({
    appliances,
    samples: readSamples(page),
    story,
    recent: {
      past: remember(pastSamples(usual, story), rules.lookBacks, nowSeconds),
      span: { fromSeconds: past.untilSeconds, toSeconds: nowSeconds },
    },
  });
  try {
    const prometheus = await startPrometheus({
      folder,
      address: `127.0.0.1:${await freePort()}`,
      config: configuration(targets.address, appliances),
      files: { 'zlb.rules.yml': rules.hurried },
      // Blocks stay as they are: putting them together would go on beside the evaluations.
      args: ['--storage.tsdb.min-block-duration=2h', '--storage.tsdb.max-block-duration=2h'],
    });
    try {
      // The first scrape brings the past; what is evaluated beside it takes longer than ever after.
      await until(
        () => query(prometheus.url, `count(count_over_time(up{job="${job}"}[5m]) >= 2)`),
        (scraped) => scraped === appliances.length + 1,
        patienceMs,
      );
      return { mood, series: targets.series, groups: await slowestEvaluations(prometheus.url, evaluations) };
    } finally {
      await prometheus.stop();
    }
  } finally {
    targets.close();
  }
}

/** One target per appliance, as README.md has it. JSON is YAML. */
function configuration(address: string, appliances: readonly string[]): string {
  const target = (labels: Readonly<Record<string, string>>) => ({ targets: [address], labels });
  return JSON.stringify({
    global: {
      scrape_interval: `${scrapeSeconds}s`,
      scrape_timeout: `${scrapeSeconds}s`,
      evaluation_interval: `${scrapeSeconds}s`,
    },
    rule_files: ['zlb.rules.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [address] }] }] },
    scrape_configs: [
      {
        job_name: job,
        static_configs: [
          target({ instance: 'exporter' }),
          ...appliances.map((name) => target({ instance: name, __metrics_path__: '/probe', __param_target: name })),
        ],
      },
    ],
  });
}

/** The value of the first sample. */
async function query(prometheus: string, expression: string): Promise<number> {
  const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const { data } = (await answer.json()) as { data: { result: readonly { value: readonly [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

/** The slowest of some evaluations. */
export interface RuleTime {
  readonly name: string;
  readonly seconds: number;
  /** How many it has; 0 for a recording. */
  readonly alerts: number;
}

export interface GroupTime {
  readonly name: string;
  readonly seconds: number;
  readonly rules: readonly RuleTime[];
}

interface Group {
  readonly name: string;
  readonly evaluationTime: number;
  readonly rules: readonly {
    readonly name: string;
    readonly evaluationTime: number;
    readonly lastError?: string;
    readonly alerts?: readonly unknown[];
  }[];
}

/**
 * Waits for that many evaluations of every group that begin after now; resolves with the slowest of
 * each group and of each rule.
 */
async function slowestEvaluations(prometheus: string, evaluations: number): Promise<readonly GroupTime[]> {
  const looks: (readonly Group[])[] = [];
  let seenSeconds: ReadonlyMap<string, number> = new Map();
  const nowSeconds = Date.now() / 1_000;
  while (looks.length < evaluations) {
    await delay(500);
    const last = await lastEvaluations(prometheus);
    if (![...last].every(([group, seconds]) => seconds > (seenSeconds.get(group) ?? nowSeconds))) continue;
    looks.push(await rules(prometheus));
    seenSeconds = last;
  }
  return (looks.at(-1) ?? []).map((group, place) => ({
    name: group.name,
    seconds: slowest(looks.map((groups) => groups[place]?.evaluationTime)),
    rules: group.rules.map(({ name, alerts }, index) => ({
      name,
      seconds: slowest(looks.map((groups) => groups[place]?.rules[index]?.evaluationTime)),
      alerts: alerts?.length ?? 0,
    })),
  }));
}

/**
 * When the last evaluation of each group began that has ended. /api/v1/rules tells that too, but
 * with all alerts, which costs Prometheus time.
 */
async function lastEvaluations(prometheus: string): Promise<ReadonlyMap<string, number>> {
  const page = await (await fetch(`${prometheus}/metrics`)).text();
  const metric = /^prometheus_rule_group_last_evaluation_timestamp_seconds\{rule_group="(.*)"\} (\S+)$/gm;
  return new Map([...page.matchAll(metric)].map(([, group = '', seconds]) => [group, Number(seconds)]));
}

async function rules(prometheus: string): Promise<readonly Group[]> {
  const { data } = (await (await fetch(`${prometheus}/api/v1/rules`)).json()) as { data: { groups: readonly Group[] } };
  for (const { name, lastError } of data.groups.flatMap((group) => group.rules))
    if (lastError) throw new Error(`Prometheus could not evaluate ${name}: ${lastError}`);
  return data.groups;
}

function slowest(times: readonly (number | undefined)[]): number {
  return Math.max(...times.map((time) => time ?? Number.NaN));
}
