import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseShard, settingsOfShard, shardOf } from '../../../src/config/settings.ts';
import { loadText } from './given-config.ts';

/** Seventeen appliances at each of three hundred sites. */
const names = Array.from({ length: 5_100 }, (_, index) => `lb-site${Math.floor(index / 17)}-${index % 17}`);

it('a shard is an index from 0 and a count', () => {
  expect(parseShard('0/1')).toEqual({ index: 0, count: 1 });
  expect(parseShard('2/3')).toEqual({ index: 2, count: 3 });
  expect(parseShard('999/1000')).toEqual({ index: 999, count: 1_000 });
});

it.each(['3/3', '4/3', '0/0', '1', '1/', '/3', '-1/3', '+1/3', '1 / 3', '1/3 ', '0x1/3', '1.0/3', '0/1001', '$(I)/3'])(
  'the shard %j is refused',
  (text) => {
    expect(parseShard(text)).toBeUndefined();
  },
);

// During an upgrade of one process after the other, no appliance may be polled twice, or not at
// all.
it.each([
  ['lb-paris', [0, 0, 2, 2, 4, 124]],
  ['lb-paris-1', [0, 0, 0, 0, 0, 436]],
  ['lb-madrid', [0, 1, 1, 3, 4, 998]],
  ['lb-berlin', [0, 1, 1, 1, 1, 672]],
  ['LB_eu.west:7', [0, 1, 1, 1, 4, 357]],
])('the shard of a name never changes: %s', (name, shards) => {
  expect([1, 2, 3, 4, 10, 1_000].map((count) => shardOf(name, count))).toEqual(shards);
});

it('the shard of a name is an existing shard, for any name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (name, count) => {
      expect(parseShard(`${shardOf(name, count)}/${count}`)).toBeDefined();
    }),
  );
});

it.each([2, 3, 4, 7, 10])('the shard of a name spreads the names evenly over %d shards', (count) => {
  const sizes = Array.from({ length: count }, () => 0);
  for (const name of names) sizes[shardOf(name, count)]! += 1;

  // Five standard deviations: a fair hash is further off once in a million.
  const deviation = 5 * Math.sqrt((names.length / count) * (1 - 1 / count));
  for (const size of sizes) expect(Math.abs(size - names.length / count)).toBeLessThan(deviation);
});

it.each([1, 2, 3, 4, 9])(
  'the shard of a name changes from %d shards to one more only for the names of the new one',
  (count) => {
    const moved = names.filter((name) => shardOf(name, count) !== shardOf(name, count + 1));

    expect(moved.filter((name) => shardOf(name, count + 1) !== count)).toEqual([]);
    const share = 1 / (count + 1);
    const deviation = 5 * Math.sqrt(names.length * share * (1 - share));
    expect(Math.abs(moved.length - names.length * share)).toBeLessThan(deviation);
  },
);

it('twins belong to the shard of the first of them', async () => {
  const entries = ['lb-paris', 'lb-madrid'].map((name) => `{ name: ${name}, url: 192.0.2.10, api_key: f1x7ure }`);
  const settings = await loadText(`appliances: [${entries.join()}]\ntwins: [[lb-paris, lb-madrid]]`);

  expect(settingsOfShard(settings, { index: 1, count: 3 })).toMatchObject({ appliances: [], twins: [] });
  expect(settingsOfShard(settings, { index: 2, count: 3 })).toMatchObject({
    appliances: [{ name: 'lb-paris' }, { name: 'lb-madrid' }],
    twins: [['lb-paris', 'lb-madrid']],
  });
});

it('the settings of a shard have its own appliances in order, and the owners of the others', async () => {
  const entries = ['lb-paris', 'lb-madrid', 'lb-berlin', 'lb-lisbon'].map(
    (name) => `{ name: ${name}, url: 192.0.2.10, api_key: f1x7ure }`,
  );
  const settings = await loadText(`appliances: [${entries.join()}]\nlimits: { series_per_appliance: 1000 }`);

  const own = settingsOfShard(settings, { index: 1, count: 3 });

  expect(own).toEqual({
    ...settings,
    appliances: [settings.appliances[1], settings.appliances[2]],
    shard: {
      index: 1,
      count: 3,
      otherShards: new Map([
        ['lb-paris', 2],
        ['lb-lisbon', 2],
      ]),
    },
  });
});
