import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { startPrometheus } from '../../scripts/stack/prometheus.ts';
import { until } from '../../test/support/until.ts';
import { freeAddress } from '../free-address.ts';
import { createApplianceWorld, type Mood } from './appliance-worlds.ts';
import { watchDisturbance } from './disturbance.ts';
import { type GroupTime, slowestEvaluations } from './evaluations.ts';
import { readExporterPage } from './exporter-page.ts';
import { remember } from './history.ts';
import { pastSamples } from './past.ts';
import { job, readSamples, type Sample } from './samples.ts';
import type { MeasuredRules } from './measured-rules.ts';
import { createStory, scrapeSeconds } from './story.ts';
import { startTargets } from './targets.ts';

export interface SceneParts {
  /** A folder of its own. */
  readonly folder: string;
  readonly mood: Mood;
  readonly appliances: readonly string[];
  readonly rules: MeasuredRules;
  /** Of one appliance on a usual day. */
  readonly usual: readonly Sample[];
  /** Blocks up to a moment, in Unix seconds. */
  readonly past: { readonly folder: string; readonly untilSeconds: number };
}

export interface Played {
  readonly mood: Mood;
  readonly series: number;
  /** Of Prometheus, at the end. */
  readonly memoryBytes: number;
  readonly groups: readonly GroupTime[];
  /** Of the machine, while the rules were evaluated: what other programs took makes evaluations longer. */
  readonly othersShare: number;
}

const evaluations = 3;
/** All targets are scraped after two intervals, unless something else keeps the machine busy. */
const patienceMs = 300_000;

/** Starts a Prometheus with the history of the fleet, lets it scrape the fleet and evaluate the rules. */
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
      past: remember(pastSamples(usual, story, mood, nowSeconds), rules.lookBacks, nowSeconds),
      span: { fromSeconds: past.untilSeconds, toSeconds: nowSeconds },
    },
  });
  try {
    const prometheus = await startPrometheus({
      folder,
      address: await freeAddress(),
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
      const disturbance = await watchDisturbance(prometheus.url);
      const groups = await slowestEvaluations(prometheus.url, evaluations);
      const othersShare = await disturbance();
      const memory = await fetch(`${prometheus.url}/metrics`).then((answer) => answer.text());
      return {
        mood,
        series: targets.series,
        memoryBytes: Number(/^process_resident_memory_bytes (\S+)$/m.exec(memory)?.[1]),
        groups,
        othersShare,
      };
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
