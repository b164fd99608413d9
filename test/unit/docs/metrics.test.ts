import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { metricsDocument } from '../../../scripts/metrics-document.ts';
import { collectorQueries, exporterQueries, gatewayQueries } from '../../../scripts/metrics-queries.ts';
import { collectorFamilies, collectors } from '../../../src/collectors/registry.ts';
import { ownFamilies } from '../../../src/poller/collector-statistics.ts';
import { knownSeries } from '../../support/known-series.ts';
import { selectorsOf } from '../../support/promql.ts';
import { complaintsAbout } from '../../support/query-complaints.ts';

const families = [...collectorFamilies, ...ownFamilies];
const contract = new URL('../../../../shared/design/INTERFACE.md', import.meta.url);

it('docs/metrics.md is what the families in the code say; npm run docs writes it', () => {
  expect(readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')).toBe(metricsDocument());
});

it('every family ends its help with its source in brackets and a full stop', () => {
  for (const { name, help } of families) expect(help, name).toMatch(/\([^()]+\)[.]$/);
});

it('no two families share a name', () => {
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
});

describe('its queries', () => {
  it('are about collectors that exist', () => {
    const names = collectors.map(({ name }) => name);

    expect(Object.keys(collectorQueries).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('name metrics, labels and states that there are, and those of their collector first', async () => {
    const known = await knownSeries();
    const all = [...Object.values(collectorQueries).flat(), ...exporterQueries, ...gatewayQueries];

    expect(all.flatMap(({ query }) => complaintsAbout(query, known))).toEqual([]);
    for (const { name, families: own } of collectors) {
      const asked = (collectorQueries[name] ?? []).map(({ query }) => selectorsOf(query)[0]?.metric);
      expect(own.map(({ family }) => family.name)).toEqual(expect.arrayContaining(asked));
    }
  });
});

if (!existsSync(contract))
  console.warn('NOT RUN: the comparison of the families with the interface, which is not beside this clone');

describe.skipIf(!existsSync(contract))('the interface beside this clone', () => {
  it('has no metric of a read that is not served', () => {
    const rows = readFileSync(contract, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| zlb_'));
    const names = rows.flatMap((line) => {
      const cell = line.split('|')[1] ?? '';
      return [...cell.matchAll(/(zlb_\w+)(?:\{([\w,]+)\}(\w+))?/g)].flatMap(([name, start, middle, end]) =>
        middle === undefined ? [name] : middle.split(',').map((word) => `${start}${word}${end}`),
      );
    });
    const served = new Set(families.map(({ name }) => name));
    const own = /^zlb_(exporter_build_info|exporter_config_|exporter_demonstration|admin_)/;

    expect(names.filter((name) => !served.has(name) && !own.test(name))).toEqual([]);
  });
});
