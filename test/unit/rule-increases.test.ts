import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createAdminMetrics } from '../../src/admin/calls/admin-metrics.ts';
import { collectorFamilies } from '../../src/collectors/registry.ts';
import { RequestCounts } from '../../src/request-log/counts.ts';
import { refusalMetric } from '../../src/request-log/request-log.ts';
import { createCounters } from '../../src/scheduler/counters.ts';
import { blocksToRun, queriesIn } from '../docs/documents.ts';
import { filled, queriesOf, readBoards } from '../support/dashboards.ts';
import { increasesOf } from '../support/promql.ts';
import { expressionsOf, shippedRules } from '../support/shipped-rules.ts';

/**
 * Counters of which every series is there, at 0, before the first event. `increase` and `rate` do
 * not see the event with which any other series begins. Only the exporter says which those are:
 * promtool sees the series of a case, and pint those of a Prometheus.
 */
async function countersFrom0(): Promise<ReadonlySet<string>> {
  const gateway = new Registry();
  createAdminMetrics(gateway);
  const polling = createCounters('lb-1');
  polling.startAtZero(['farms']);
  const requests = new RequestCounts('lb-1', [100], [{ farm: 'shop', availabilityRatio: 0.99 }]);
  const pages = await Promise.all(
    [gateway, polling.current().registry, requests.current().registry].map((registry) => registry.metrics()),
  );
  const names = pages.flatMap((page) => [...page.matchAll(/^(\w+).* 0$/gm)].map(([, name = '']) => name));
  return new Set([...names, refusalMetric.name]);
}

/** Counters of the appliance and of the process: their first value is not an event. */
const others = new Set(collectorFamilies.map(({ name }) => name));
/** Counted all the time: a graph of them shows how much, and what began is soon a small part. */
const steady = [
  'zlb_requests_total',
  'zlb_request_duration_seconds_bucket',
  'zlb_backend_request_duration_seconds_sum',
  'zlb_backend_request_duration_seconds_count',
  'zlb_response_bytes_total',
  'zlb_api_busy_seconds_total',
];
const isOfProcess = (metric: string): boolean => /^(process|nodejs)_/.test(metric);

const rules = shippedRules.flatMap((rule) =>
  expressionsOf(rule).map((expr) => ({ where: rule.alert ?? rule.record, expr })),
);
const boards = readBoards()
  .flatMap(queriesOf)
  .map(({ where, expr }) => ({ where, expr: filled(expr) }));
const documents = blocksToRun('promql').flatMap((block) =>
  queriesIn(block).map((expr) => ({ where: `${block.file}:${block.line}`, expr })),
);

it.each([
  ['rules', rules],
  ['boards', boards],
  ['documents', documents],
])('no query takes an increase that misses the first event of a new series: %s', async (_, queries) => {
  const from0 = await countersFrom0();
  const blind = queries.flatMap(({ where, expr }) =>
    increasesOf(expr).flatMap(({ metric, countsNew }) =>
      countsNew || from0.has(metric) || others.has(metric) || isOfProcess(metric) || steady.includes(metric)
        ? []
        : [`${where}: ${metric}`],
    ),
  );

  expect(queries.length).toBeGreaterThan(0);
  expect(blind).toEqual([]);
});
