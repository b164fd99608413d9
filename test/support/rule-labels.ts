import type { KnownSeries } from './known-series.ts';
import { type Forms, labelFlow } from './label-flow.ts';
import { shippedRules } from './shipped-rules.ts';

/**
 * How Prometheus labels what it scrapes: `everywhere` is on its own series too (`up`), `appliances`
 * only on the series of appliances.
 */
export interface Labelling {
  readonly everywhere: readonly string[];
  readonly appliances: readonly string[];
}

export const labellings = {
  'deploy/prometheus/prometheus.yml, which adds the site after the scrape': {
    everywhere: ['job', 'instance'],
    appliances: ['site'],
  },
  'deploy/prometheus/by-appliance.yml, whose targets have all labels': {
    everywhere: ['job', 'instance', 'exporter', 'site'],
    appliances: [],
  },
} as const satisfies Readonly<Record<string, Labelling>>;

/** Labels that only targets and configurations give, which `known` may have too. */
const given: readonly string[] = ['job', 'instance', 'exporter', 'site'];

/** Returns the labels of every metric and recording as Prometheus has them with this labelling. */
export function labelsOfRules(
  known: ReadonlyMap<string, KnownSeries>,
  { everywhere, appliances }: Labelling,
): (metric: string) => Forms {
  const recorded = new Map<string, Forms>();
  const formsOf = (metric: string): Forms => {
    const records = recorded.get(metric);
    if (records) return records;
    const labels = metric.includes(':') ? undefined : known.get(metric)?.labels;
    if (!labels) return [];
    const own = [...labels].filter((label) => !given.includes(label));
    return [new Set([...own, ...everywhere, ...(labels.has('appliance') ? appliances : [])])];
  };
  // A recording reads itself and later ones: until nothing is added.
  for (let before = -1; before !== sizeOf(recorded); ) {
    before = sizeOf(recorded);
    for (const { record, expr, labels = {} } of shippedRules) {
      if (record === undefined) continue;
      const found = labelFlow(expr, formsOf).forms.map((form) => new Set([...form, ...Object.keys(labels)]));
      const all = [...(recorded.get(record) ?? []), ...found];
      recorded.set(record, [...new Map(all.map((form) => [[...form].toSorted().join(), form])).values()]);
    }
  }
  return formsOf;
}

function sizeOf(recorded: ReadonlyMap<string, Forms>): number {
  return [...recorded.values()].reduce((sum, { length }) => sum + length, 0);
}
