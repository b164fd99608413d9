import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { applianceFamilies } from '../../../src/app/appliance-families.ts';
import { adminMetricFamilies } from '../../../src/admin/calls/admin-metrics.ts';
import { createSelfMetrics } from '../../../src/metrics/self.ts';
import { lostMetric } from '../../../src/history/history.ts';
import { refusalMetric } from '../../../src/request-log/request-log.ts';

const { registry } = createSelfMetrics({ version: '1', revision: 'a', nodeVersion: 'v24' });
const names = [
  ...applianceFamilies,
  refusalMetric,
  lostMetric,
  ...Object.values(adminMetricFamilies),
  ...registry.getMetricsAsArray(),
].map(({ name }) => name);

it('every zlb_ family has a unique name without its suffix: OpenMetrics names a counter without `_total`', () => {
  const plain = names.map((name) => name.replace(/_(?:total|created|info|bucket|sum|count)$/, ''));

  expect(plain.filter((name, index) => plain.indexOf(name) !== index)).toEqual([]);
});

it('every zlb_ family is in docs/metrics.md, which names no other', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/`(zlb_\w+)[`{]/g)].map(([, name = '']) => name);

  expect([...new Set(documented)].toSorted()).toEqual(names.toSorted());
});
