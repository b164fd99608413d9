import { collectDefaultMetrics, Registry } from 'prom-client';
import { applianceFamilies } from '../../src/app/appliance-families.ts';
import { adminMetricFamilies } from '../../src/admin/calls/admin-metrics.ts';
import { failureReasons } from '../../src/appliance/errors.ts';
import { transitionStates } from '../../src/collectors/collector.ts';
import { collectors } from '../../src/collectors/registry.ts';
import { lostMetric } from '../../src/history/history.ts';
import type { Family, StateSet } from '../../src/metrics/family.ts';
import { createSelfMetrics } from '../../src/metrics/self.ts';
import { runOutcomes } from '../../src/scheduler/counters.ts';
import { skipReasons } from '../../src/state/status.ts';
import { lineResults } from '../../src/request-log/counts.ts';
import { refusalReasons } from '../../src/request-log/receiver.ts';
import { refusalMetric } from '../../src/request-log/request-log.ts';
import { selectorsOf } from './promql.ts';
import { shippedRules } from './shipped-rules.ts';

export interface KnownSeries {
  readonly labels: ReadonlySet<string>;
  /** For labels with a closed list of values. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

const targetLabels = ['job', 'instance', 'exporter'];
/**
 * A label that a configuration gives to its appliances; any name is possible, this one is that of
 * the examples.
 */
const configuredLabels = ['site'];

/** Every series that a Prometheus has which scrapes the exporter and loads its rules, by metric. */
export async function knownSeries(): Promise<ReadonlyMap<string, KnownSeries>> {
  const served = new Map([
    ...applianceFamilies.flatMap(seriesOfFamily),
    seriesOf(lostMetric.name, []),
    seriesOf(refusalMetric.name, refusalMetric.labelNames, { reason: refusalReasons }),
    ...Object.values(adminMetricFamilies).map(({ name, ...rest }) =>
      seriesOf(name, 'labelNames' in rest ? withConfigured(rest.labelNames) : []),
    ),
    ...(await seriesOfTheProcess()),
    ...[
      'up',
      'scrape_duration_seconds',
      'scrape_samples_scraped',
      'scrape_samples_post_metric_relabeling',
      'scrape_series_added',
    ].map((name) => seriesOf(name, [])),
  ]);
  const recorded = seriesOfRules(served);
  const everyLabel = [...served.values(), ...recorded.values()].flatMap(({ labels }) => [...labels]);
  const made = shippedRules.flatMap(({ expr }) =>
    [...expr.matchAll(/"(\w+)", "[^"]*", "", ""/g)].map(([, label = '']) => label),
  );
  const given = shippedRules.flatMap(({ labels = {} }) => Object.keys(labels));
  const alerts = ['ALERTS', 'ALERTS_FOR_STATE'].map((name) =>
    seriesOf(name, ['alertname', 'alertstate', ...made, ...given, ...everyLabel], {
      alertstate: ['pending', 'firing'],
    }),
  );
  return new Map([...served, ...recorded, ...alerts]);
}

/** The labels of an appliance come with its name, where targets or relabelling give them. */
const withConfigured = (labels: readonly string[]): readonly string[] =>
  labels.includes('appliance') ? [...labels, ...configuredLabels] : labels;

type Entry = readonly [string, KnownSeries];

function seriesOf(name: string, labels: readonly string[], values: KnownSeries['values'] = {}): Entry {
  return [name, { labels: new Set([...labels, ...targetLabels]), values }];
}

function seriesOfFamily(family: Family): readonly Entry[] {
  const set = 'states' in family ? (family as StateSet) : undefined;
  const labels = ['appliance', ...family.labels, ...(set ? [set.stateLabel] : []), ...configuredLabels];
  const values = { ...closedValues(family), ...(set ? { [set.stateLabel]: set.states } : {}) };
  if (family.type !== 'histogram') return [seriesOf(family.name, labels, values)];
  return [
    seriesOf(`${family.name}_bucket`, [...labels, 'le'], values),
    seriesOf(`${family.name}_sum`, labels, values),
    seriesOf(`${family.name}_count`, labels, values),
  ];
}

function closedValues({ name, labels }: Family): KnownSeries['values'] {
  return {
    ...(labels.includes('collector') ? { collector: collectors.map(({ name }) => name) } : {}),
    ...(name === 'zlb_collector_runs_total' ? { outcome: runOutcomes } : {}),
    ...(name === 'zlb_collector_errors_total' ? { reason: failureReasons } : {}),
    ...(name === 'zlb_collector_skipped_total' ? { reason: skipReasons } : {}),
    ...(name === 'zlb_request_log_lines_total' ? { result: lineResults } : {}),
    ...(name === 'zlb_transitions_total'
      ? { object: Object.keys(transitionStates), to: Object.values(transitionStates).flat() }
      : {}),
  };
}

/**
 * Returns the metrics of the exporter itself and its process: the names from its pages, the labels
 * from prom-client.
 */
async function seriesOfTheProcess(): Promise<readonly Entry[]> {
  const self = createSelfMetrics({ version: '', revision: '', nodeVersion: '' });
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  const page = await self.text();
  return [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) => {
    const metric = (defaults.getSingleMetric(name) ?? self.registry.getSingleMetric(name)) as unknown as {
      readonly labelNames: readonly string[];
    };
    if (type !== 'histogram') return [seriesOf(name, metric.labelNames)];
    return [
      seriesOf(`${name}_bucket`, ['le', ...metric.labelNames]),
      ...['_sum', '_count'].map((suffix) => seriesOf(name + suffix, metric.labelNames)),
    ];
  });
}

/** A recorded series may have any label that its expression reads. */
function seriesOfRules(served: ReadonlyMap<string, KnownSeries>): ReadonlyMap<string, KnownSeries> {
  const recorded = new Map<string, KnownSeries>();
  // Twice: a rule may read a series that a later one records.
  for (const { record, expr, labels = {} } of [...shippedRules, ...shippedRules]) {
    if (record === undefined) continue;
    const before = recorded.get(record);
    const read = selectorsOf(expr).flatMap(({ metric }) => [
      ...((served.get(metric) ?? recorded.get(metric))?.labels ?? []),
    ]);
    const values = Object.fromEntries(
      Object.entries(labels).map(([label, value]) => [label, [...(before?.values[label] ?? []), value]]),
    );
    recorded.set(record, {
      labels: new Set([...(before?.labels ?? []), ...read, ...Object.keys(labels)]),
      values: { ...before?.values, ...values },
    });
  }
  return recorded;
}
