/** One sample of the exporter's page. */
export interface Sample {
  readonly metric: string;
  /** As on the page, but for `appliance`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it is one of an appliance, and not the exporter's own. */
  readonly ofAppliance: boolean;
  readonly value: string;
}

export const job = 'zlb';
/** What the exporter says of itself is a target of its own. */
const ownInstance = 'exporter';

/** Reads a page with one appliance. */
export function readSamples(page: string): readonly Sample[] {
  return [...page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(([, metric = '', text = '', value = '']) => {
    const { appliance, ...labels } = Object.fromEntries(
      [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', is = '']) => [name, is]),
    );
    return {
      metric,
      labels: { ...labels, ...(appliance === '' ? { appliance } : {}) },
      ofAppliance: !!appliance,
      value,
    };
  });
}

/** How a sample is written on the page of an appliance, and how Prometheus keeps it: with the labels of the target. */
export function seriesOf(sample: Sample, appliance: string, kept: 'scraped' | 'stored' = 'scraped'): string {
  const labels = {
    ...(sample.ofAppliance ? { appliance } : {}),
    ...sample.labels,
    ...(kept === 'stored' ? { instance: sample.ofAppliance ? appliance : ownInstance, job } : {}),
  };
  const text = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `${sample.metric}{${text.join(',')}}`;
}
