import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { createApplianceWorld, type Mood } from '../../bench/rules/appliance-worlds.ts';
import { readExporterPage } from '../../bench/rules/exporter-page.ts';
import { scrapeSeconds, startFleetPages } from '../../bench/rules/fleet-pages.ts';
import { parseDuration } from '../../src/lib/time.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { isThere } from '../support/programs.ts';
import { readsOf } from '../support/promql.ts';
import { expressionsOf, type RuleGroup, shippedFiles } from '../support/shipped-rules.ts';
import { until } from '../support/until.ts';

// Seconds depend on the machine, and what a rule reads does not. With 100 of these appliances, a
// rule at a limit takes half a second (samples) or two (queries): see `npm run bench:rules`.

/** Samples of one appliance that one rule reads. */
const mostSamples = 80_000;
/** Texts of alerts of one appliance, in one rule, that run a query. */
const mostQueries = 50;

const groups = shippedFiles.flat();
const secondsOf = ({ interval }: RuleGroup) =>
  interval === undefined ? scrapeSeconds : (parseDuration(interval) ?? Number.NaN) / 1_000;
/** How often a recording has a sample. Other series have one for each scrape. */
const steps = new Map(groups.flatMap((group) => group.rules.map((rule) => [rule.record, secondsOf(group)] as const)));
// One for each outage.
steps.set('object:zlb_down:lasted', 3_600);
const rules = groups.flatMap((group) =>
  group.rules.map((rule) => ({ name: `${group.name} / ${rule.record ?? rule.alert}`, rule })),
);

describe.skipIf(!isThere('prometheus'))('the rules for an appliance with 500 backends', () => {
  const days = [
    { day: 'all is down', mood: 'bad', sign: 'farm:zlb_farm_status:cut' },
    // Farms that are down hide their backends, so this is another worst case.
    { day: 'every second backend is down', mood: 'rack', sign: 'object:zlb_down:since{object="backend"}' },
  ] as const;
  const readings = new Map<Mood, string>();
  // At once: each takes a minute.
  beforeAll(async () => {
    const read = async (mood: Mood) =>
      readings.set(mood, await readExporterPage(createApplianceWorld(mood, Date.now())));
    await Promise.all(days.map(({ mood }) => read(mood)));
  }, 600_000);

  it.each(days)('read few samples and run few queries for texts when $day', async ({ mood, sign }) => {
    const pages = await startFleetPages(readings.get(mood) ?? '', ['lb-1'], mood);
    onTestFinished(() => pages.close());
    const prometheus = await givenPrometheus(configuration(pages.address), {
      'zlb.rules.yml': stringify({ groups: groups.map((group) => ({ ...group, interval: '2s' })) }),
    });
    const countOf = async (selector: string) => (await prometheus.query(`count(${selector})`))[0]?.value ?? 0;
    await until(
      () => countOf(sign),
      (found) => found > 0,
    );

    const costs = [];
    for (const { name, rule } of rules) {
      let samples = 0;
      for (const { text, metric, rangeSeconds, times } of readsOf(rule.expr))
        samples += (await countOf(text)) * times * Math.max(1, rangeSeconds / (steps.get(metric) ?? scrapeSeconds));
      const queries = expressionsOf(rule).length - 1;
      costs.push({ name, samples, queries: queries && queries * (await countOf(rule.expr)) });
    }

    expect(costs.filter(({ samples }) => samples > mostSamples)).toEqual([]);
    expect(costs.filter(({ queries }) => queries > mostQueries)).toEqual([]);
  });
});

function configuration(address: string): string {
  const target = (labels: Readonly<Record<string, string>>) => ({ targets: [address], labels });
  return stringify({
    global: { scrape_interval: '2s', evaluation_interval: '2s' },
    rule_files: ['zlb.rules.yml'],
    scrape_configs: [
      {
        job_name: 'zlb',
        static_configs: [
          target({ instance: 'exporter' }),
          target({ instance: 'lb-1', __metrics_path__: '/probe', __param_target: 'lb-1' }),
        ],
      },
    ],
  });
}
