import type { Representation } from '../../src/metrics/exposition.ts';
import { fillRegistry, renderLines } from '../../src/metrics/render.ts';
import type { Emit } from '../../src/metrics/family.ts';
import type { MetricsStore } from '../../src/metrics/store.ts';

/** The page of a store as plain text, without what the exporter says of itself. */
export async function textOf(
  store: MetricsStore,
  format: Representation['format'] = 'text',
  appliances?: ReadonlySet<string>,
): Promise<string> {
  const page = await store.exposition({ format, encoding: 'identity' }, appliances);
  return Buffer.concat(page.finish('')).toString();
}

/** Returns the emitted text as prom-client renders it, family by family. */
export async function rendered(fill: (emit: Emit) => void, appliance = 'lb') {
  const { registry, families, ...rest } = fillRegistry(appliance, fill);
  const texts = await Promise.all(families.map(({ family }) => renderLines(registry, family.name)));
  return {
    ...rest,
    families: families.map(({ family, series }, index) => ({ family, series, text: texts[index] ?? '' })),
    text: texts.join(''),
  };
}
