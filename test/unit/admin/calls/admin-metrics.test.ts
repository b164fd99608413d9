import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createAdminMetrics, maxRequestSeries } from '../../../../src/admin/calls/admin-metrics.ts';

it('admin requests create a limited number of series, and are counted in total beyond it', async () => {
  const registry = new Registry();
  const metrics = createAdminMetrics(registry);
  const call = { appliance: 'lb-1', method: 'GET', code: '200' };

  for (let number = 1; number <= maxRequestSeries; number += 1)
    metrics.countResponse({ ...call, endpoint: `/${number}` });
  for (const endpoint of ['/more', '/others', '/1']) metrics.countResponse({ ...call, endpoint });

  const { values } = (await registry.getMetricsAsJSON()).find(({ name }) => name === 'zlb_admin_requests_total')!;
  const countOf = (endpoint: string) => values.find(({ labels }) => labels.endpoint === endpoint)?.value;
  expect(values).toHaveLength(maxRequestSeries + 1);
  expect([countOf('/1'), countOf('/more'), countOf('')]).toEqual([2, undefined, 2]);
});
