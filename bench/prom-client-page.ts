import { Gauge, Registry } from 'prom-client';

/** A prom-client registry with the series of a page of gauges. */
export function toRegistry(page: string): Registry {
  const registry = new Registry();
  const gauges = new Map<string, Gauge>();
  for (const { name, labels, value } of samplesOf(page)) {
    let gauge = gauges.get(name);
    if (!gauge) {
      gauge = new Gauge({ name, help: 'The same series.', labelNames: Object.keys(labels), registers: [registry] });
      gauges.set(name, gauge);
    }
    gauge.set(labels, value);
  }
  return registry;
}

/** The sample lines of a page, sorted: what two renderings of the same series have in common. */
export function sampleLines(page: string): string[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .toSorted();
}

// The benchmark's label values have nothing to escape.
function* samplesOf(page: string): Generator<{ name: string; labels: Record<string, string>; value: number }> {
  for (const [, name = '', labels = '', value] of page.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text] as const);
    yield { name, labels: Object.fromEntries(pairs), value: Number(value) };
  }
}
