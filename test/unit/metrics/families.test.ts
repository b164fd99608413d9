import { globSync, readFileSync } from 'node:fs';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { collectors } from '../../../src/collectors/registry.ts';
import { adminMetricFamilies, createAdminMetrics } from '../../../src/gateway/admin-metrics.ts';
import type { Family, StateSet } from '../../../src/metrics/family.ts';
import { fillRegistry } from '../../../src/metrics/render.ts';
import { createSelfMetrics } from '../../../src/metrics/self.ts';
import { ownFamilies } from '../../../src/poller/collector-statistics.ts';
import { counterFamilies, createCounters } from '../../../src/poller/counters.ts';
import { RequestCounts, requestFamilies } from '../../../src/requests/counts.ts';
import { refusalMetric } from '../../../src/requests/request-log.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const classes = { Counter, Gauge, Histogram };

/** A family of `/metrics`, where it is made, and the registry that has it there. */
interface Made {
  readonly name: string;
  readonly where: string;
  readonly registry: Registry;
}

/** Fills a family as the poller does, with one series. */
function filled(family: Family): Registry {
  const labels = Object.fromEntries(family.labels.map((label) => [label, 'any']));
  return fillRegistry('lb', (emit) => {
    if ('states' in family) emit.state(family as StateSet, labels, 'unknown');
    else emit.sample(family, labels, 1);
  }).registry;
}

function everyFamily(): readonly Made[] {
  const counts = createCounters('lb').reading().registry;
  const ofGateway = new Registry();
  createAdminMetrics(ofGateway);
  const ofRequests = new RequestCounts('lb', [1], []).reading().registry;
  const { registry: ofExporter } = createSelfMetrics({ version: '1', revision: 'a', nodeVersion: 'v24' });
  const refusals = new Registry();
  refusals.registerMetric(new Counter({ ...refusalMetric, registers: [] }));
  return [
    ...collectors.flatMap(({ name: collector, families }) =>
      families.map(({ family }) => ({
        name: family.name,
        where: `collector ${collector}`,
        registry: filled(family),
      })),
    ),
    ...ownFamilies
      .filter((family) => !counterFamilies.includes(family))
      .map((family) => ({ name: family.name, where: 'poller/collector-statistics.ts', registry: filled(family) })),
    ...counterFamilies.map(({ name }) => ({ name, where: 'poller/counters.ts', registry: counts })),
    ...requestFamilies.map(({ name }) => ({ name, where: 'requests/counts.ts', registry: ofRequests })),
    { name: refusalMetric.name, where: 'requests/request-log.ts', registry: refusals },
    ...Object.values(adminMetricFamilies).map(({ name }) => ({
      name,
      where: 'gateway/admin-metrics.ts',
      registry: ofGateway,
    })),
    ...ofExporter.getMetricsAsArray().map(({ name }) => ({ name, where: 'metrics/self.ts', registry: ofExporter })),
  ];
}

function classOf({ name, registry }: Made): string {
  const metric = registry.getSingleMetric(name);
  return Object.entries(classes).find(([, each]) => metric instanceof each)?.[0] ?? 'none of prom-client';
}

/**
 * The families on the golden pages; counters of OpenMetrics get back the suffix that their header
 * lacks.
 */
function familiesOnGoldenPages(): ReadonlySet<string> {
  return new Set(
    globSync('test/golden/*.prom', { cwd: root.pathname }).flatMap((page) =>
      [...read(page).matchAll(/^# TYPE (zlb_\w+) (\w+)$/gm)].map(([, name = '', type]) =>
        type === 'counter' && !name.endsWith('_total') ? `${name}_total` : name,
      ),
    ),
  );
}

const families = everyFamily();
const names = new Set(families.map(({ name }) => name));

describe('every zlb_ family', () => {
  it('is a Gauge, Counter or Histogram of prom-client, made in one known place', async () => {
    const lines = [...Map.groupBy(families, ({ name }) => name)].map(
      ([name, makers]) =>
        `${name}: ${[...new Set(makers.map(classOf))].join(', ')}, ${makers.map(({ where }) => where).join(' and ')}`,
    );

    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../../golden/families.txt');
    expect(lines.filter((line) => line.includes('none of prom-client'))).toEqual([]);
  });

  it('has a name that no other has without its suffix: OpenMetrics names a counter without `_total`', () => {
    const plain = [...names].map((name) => name.replace(/_(?:total|created|info|bucket|sum|count)$/, ''));

    expect(plain.filter((name, index) => plain.indexOf(name) !== index)).toEqual([]);
  });

  it('of a golden file or docs/metrics.md is one of them', () => {
    const documented = [...read('docs/metrics.md').matchAll(/`(zlb_\w+)`/g)].map(([, name = '']) => name);

    expect([...familiesOnGoldenPages()].filter((name) => !names.has(name))).toEqual([]);
    expect([...new Set(documented)].toSorted()).toEqual([...names].toSorted());
  });
});
