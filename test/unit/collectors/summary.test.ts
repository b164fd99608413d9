import { expect, it } from 'vitest';
import { summaryCollector } from '../../../src/collectors/summary.ts';
import { collectFrom } from './given-replies.ts';

const modules = {
  lslb: [
    { name: 'shop', profile: 'http', services: ['front', 'api'] },
    { name: 'db', profile: 'l4xnat' },
  ],
  gslb: [],
  dslb: null,
};

it('the summary collector ignores unknown members of newer releases', async () => {
  const params = { ...modules, total: 2, eproxy: true, gslb2: [null, 'shop', { name: 7 }] };

  const collected = await collectFrom(summaryCollector, { readFarmsSummary: { params } });

  expect(collected.facts?.farms?.map(({ name }) => name)).toEqual(['shop', 'db']);
});

it('the summary collector counts farms without a profile, or with an unknown one', async () => {
  const lslb = [{ name: 'a' }, { name: 'b', profile: 'eproxy', services: [] }, { name: 'c', profile: 'constructor' }];

  const collected = await collectFrom(summaryCollector, {
    readFarmsSummary: { params: { lslb, gslb: [{ name: 'd' }] } },
  });

  expect(collected.text).toMatchInlineSnapshot(`
    "zlb_farms{appliance="lb",profile="http"} 0
    zlb_farms{appliance="lb",profile="l4xnat"} 0
    zlb_farms{appliance="lb",profile="unknown"} 2
    zlb_farms{appliance="lb",profile="eproxy"} 1
    zlb_farms{appliance="lb",profile="constructor"} 1
    zlb_farms{appliance="lb",profile="gslb"} 0
    zlb_farm_services{appliance="lb",farm="b"} 0
    "
  `);
});

it('the summary collector writes nothing for empty modules', async () => {
  const collected = await collectFrom(summaryCollector, { readFarmsSummary: { params: { lslb: null } } });

  expect(collected.text).toBe('');
  expect(collected.facts).toEqual({ farms: [] });
});

it('the summary collector counts only watched farms', async () => {
  const collected = await collectFrom(
    summaryCollector,
    { readFarmsSummary: { params: modules } },
    { watches: (name) => name === 'db' },
  );

  expect(collected.text).not.toContain('shop');
  expect(collected.facts?.farms).toEqual([{ name: 'db', profile: 'l4xnat', state: 'unknown' }]);
});
