import { expect, it } from 'vitest';
import { reservedLabels } from '../../../src/app/load-settings.ts';
import { knownSeries } from '../../support/known-series.ts';
import { shippedRules } from '../../support/shipped-rules.ts';

const reserved = reservedLabels();

it('a label of a metric cannot be set in the configuration, so that Prometheus renames none', async () => {
  const configured = ['site'];
  const used = [...(await knownSeries()).values()].flatMap(({ labels }) => [...labels]);

  expect(reserved).toContain('status');
  expect(used.filter((label) => !reserved.includes(label) && !configured.includes(label))).toEqual([]);
});

it('a label that a rule adds cannot be set in the configuration, so that it keeps its meaning', () => {
  const added = shippedRules.flatMap(({ expr, labels = {} }) => [
    ...Object.keys(labels),
    ...[...expr.matchAll(/"(\w+)", "\w+", "", ""\s*\)/g)].map(([, name = '']) => name),
  ]);

  expect(added).toEqual(expect.arrayContaining(['severity', 'fault']));
  expect(added.filter((label) => !reserved.includes(label))).toEqual([]);
});
