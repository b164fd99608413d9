import { expect, it } from 'vitest';
import { farmConnectionsCollector } from '../../../src/collectors/farm-connections.ts';
import { collectFrom, familiesOf } from './given-replies.ts';

const row = (farmname: string, more: object = {}) => ({ farmname, established: '12', pending: 3, ...more });

it('the farm connections collector reads each watched farm, also when numbers are written as text', async () => {
  const collected = await collectFrom(
    farmConnectionsCollector,
    { listFarmStats: { farms: [row('shop'), row('test')] } },
    { watches: (name) => name === 'shop' },
  );

  expect(collected.data).toEqual([{ farm: 'shop', established: 12, pending: 3 }]);
  expect(familiesOf(collected)).toEqual(farmConnectionsCollector.families.map(({ family }) => family.name));
});

it('the farm connections collector writes nothing for a datalink farm or an empty list', async () => {
  const list = [row('link', { established: null, pending: null }), { farmname: 'bare' }];

  expect((await collectFrom(farmConnectionsCollector, { listFarmStats: { farms: list } })).text).toBe('');
  expect((await collectFrom(farmConnectionsCollector, { listFarmStats: { farms: [] } })).text).toBe('');
});

it('the farm connections collector makes no call while a hung proxy would block the appliance', async () => {
  const silent = { name: 'shop', profile: 'http', state: 'critical', isSilent: true };

  const { asked, data } = await collectFrom(
    farmConnectionsCollector,
    { listFarmStats: { farms: [row('shop')] } },
    { facts: { farms: [silent] } },
  );

  expect(asked).toEqual([]);
  expect(data).toEqual([]);
});
