import { collectDefaultMetrics, Registry } from 'prom-client';
import { statesOf } from '../../src/lib/states.ts';
import { applianceFamilies } from '../../src/app/appliance-families.ts';
import { adminMetricFamilies } from '../../src/admin/calls/admin-metrics.ts';
import { failureReasons } from '../../src/appliance/errors.ts';
import { collectors } from '../../src/collectors/registry.ts';
import { lostMetric } from '../../src/history/history.ts';
import type { Family, StateSet } from '../../src/metrics/family.ts';
import { createSelfMetrics } from '../../src/metrics/self.ts';
import { runOutcomes } from '../../src/scheduler/counters.ts';
import { skipReasons } from '../../src/state/status.ts';
import { lineResults } from '../../src/request-log/counts.ts';
import { refusalReasons } from '../../src/request-log/receiver.ts';
import { refusalMetric } from '../../src/request-log/request-log.ts';
import { type Forms, type KnownSeries, labelFlow, unique } from './label-flow.ts';
import { shippedRules } from './shipped-rules.ts';

/**
 * How Prometheus labels what it scrapes: `everywhere` is on its own series too (`up`), `appliances`
 * only on the series of appliances. Any name is possible; `site` is that of the examples.
 */
export interface Labelling {
  readonly everywhere: readonly string[];
  readonly appliances: readonly string[];
}

const allOnTargets: Labelling = { everywhere: ['job', 'instance', 'exporter', 'site'], appliances: [] };

export const labellings: Readonly<Record<string, Labelling>> = {
  'deploy/prometheus/by-appliance.yml, whose targets have all labels': allOnTargets,
  'deploy/prometheus/prometheus.yml, which adds the site after the scrape': {
    everywhere: ['job', 'instance'],
    appliances: ['site'],
  },
};

/** Every series that a Prometheus has which scrapes the exporter and loads its rules, by metric. */
export async function knownSeries(labelling: Labelling = allOnTargets): Promise<ReadonlyMap<string, KnownSeries>> {
  const labelled = (labels: readonly string[]) =>
    new Set([...labels, ...labelling.everywhere, ...(labels.includes('appliance') ? labelling.appliances : [])]);
  const known = new Map(
    (await servedSeries()).map(([name, labels, values = {}]) => [name, series([labelled(labels)], values)] as const),
  );
  const formsOf = ({ expr, labels = {} }: (typeof shippedRules)[number]) =>
    labelFlow(expr, known).forms.map((form) => new Set([...form, ...Object.keys(labels)]));

  // A recording reads itself and later ones: until nothing is added.
  for (let before = -1; before !== countForms(known); ) {
    before = countForms(known);
    for (const rule of shippedRules) {
      if (rule.record === undefined) continue;
      const { forms = [], values = {} } = known.get(rule.record) ?? {};
      const own = Object.entries(rule.labels ?? {}).map(([label, value]) => [label, [...(values[label] ?? []), value]]);
      known.set(rule.record, series([...forms, ...formsOf(rule)], { ...values, ...Object.fromEntries(own) }));
    }
  }

  const ofAlerts = shippedRules.flatMap((rule) =>
    rule.alert === undefined ? [] : formsOf(rule).map((form) => new Set([...form, 'alertname', 'alertstate'])),
  );
  for (const name of ['ALERTS', 'ALERTS_FOR_STATE'])
    known.set(name, series(ofAlerts, { alertstate: ['pending', 'firing'] }));
  return known;
}

function series(forms: Forms, values: KnownSeries['values']): KnownSeries {
  return { forms: unique(forms), labels: new Set(forms.flatMap((form) => [...form])), values };
}

function countForms(known: ReadonlyMap<string, KnownSeries>): number {
  return [...known.values()].reduce((sum, { forms }) => sum + forms.length, 0);
}

type Served = readonly [name: string, labels: readonly string[], values?: KnownSeries['values']];

/** What a scrape brings, without the labels of its target. */
async function servedSeries(): Promise<readonly Served[]> {
  return [
    ...applianceFamilies.flatMap(seriesOfFamily),
    [lostMetric.name, []],
    [refusalMetric.name, refusalMetric.labelNames, { reason: refusalReasons }],
    ...Object.values(adminMetricFamilies).map(
      ({ name, ...rest }): Served => [name, 'labelNames' in rest ? rest.labelNames : []],
    ),
    ...(await seriesOfTheProcess()),
    ...[
      'up',
      'scrape_duration_seconds',
      'scrape_samples_scraped',
      'scrape_samples_post_metric_relabeling',
      'scrape_series_added',
    ].map((name): Served => [name, []]),
  ];
}

function seriesOfFamily(family: Family): readonly Served[] {
  const set = 'states' in family ? (family as StateSet) : undefined;
  const labels = ['appliance', ...family.labels, ...(set ? [set.stateLabel] : [])];
  const values = { ...closedValues(family), ...(set ? { [set.stateLabel]: set.states } : {}) };
  if (family.type !== 'histogram') return [[family.name, labels, values]];
  return [
    [`${family.name}_bucket`, [...labels, 'le'], values],
    [`${family.name}_sum`, labels, values],
    [`${family.name}_count`, labels, values],
  ];
}

function closedValues({ name, labels }: Family): KnownSeries['values'] {
  return {
    ...(labels.includes('collector') ? { collector: collectors.map(({ name }) => name) } : {}),
    ...(name === 'zlb_collector_runs_total' ? { outcome: runOutcomes } : {}),
    ...(name === 'zlb_collector_errors_total' ? { reason: failureReasons } : {}),
    ...(name === 'zlb_collector_skipped_total' ? { reason: skipReasons } : {}),
    ...(name === 'zlb_request_log_lines_total' ? { result: lineResults } : {}),
    ...(name === 'zlb_transitions_total' ? { object: Object.keys(statesOf), to: Object.values(statesOf).flat() } : {}),
  };
}

/**
 * Returns the metrics of the exporter itself and its process: the names from its pages, the labels
 * from prom-client.
 */
async function seriesOfTheProcess(): Promise<readonly Served[]> {
  const self = createSelfMetrics({ version: '', revision: '', nodeVersion: '' });
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  const page = await self.text();
  return [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]): readonly Served[] => {
    const metric = (defaults.getSingleMetric(name) ?? self.registry.getSingleMetric(name)) as unknown as {
      readonly labelNames: readonly string[];
    };
    if (type !== 'histogram') return [[name, metric.labelNames]];
    return [
      [`${name}_bucket`, ['le', ...metric.labelNames]],
      ...['_sum', '_count'].map((suffix): Served => [name + suffix, metric.labelNames]),
    ];
  });
}
