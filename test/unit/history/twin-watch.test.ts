import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { farmConfigCollector } from '../../../src/collectors/farm-config.ts';
import { familiesByPart } from '../../../src/app/appliance-families.ts';
import { TwinWatch } from '../../../src/history/twin-watch.ts';
import type { Readings } from '../../../src/history/twins.ts';
import { readingKey, type Reading } from '../../../src/state/reading.ts';
import { givenReading } from '../../support/given-reading.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { seriesOf } from '../../support/samples.ts';
import { turnsDuring } from '../../support/loop-turns.ts';
import { textOf } from '../../support/store-text.ts';

const minuteMs = 60_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Two appliances with one certificate each, of which only the end is looked at. */
function givenTwins(more: (appliance: string) => readonly (readonly [string, Reading])[] = () => []) {
  const store = createMetricsStore(familiesByPart.history);
  store.arrange(['lb-1', 'lb-2']);
  const ends = new Map([
    ['lb-1', 100],
    ['lb-2', 100],
  ]);
  const answering = new Set(ends.keys());
  const looks = vi.fn<() => void>();
  const readingsOf = (appliance: string): Readings | undefined => {
    looks();
    const data = [{ file: 'shop.pem', kind: 'certificate', commonName: 'shop', notAfterSeconds: ends.get(appliance) }];
    const reading = { ...givenReading, collector: 'certificates', data };
    return answering.has(appliance) ? new Map([['certificates', reading], ...more(appliance)]) : undefined;
  };
  const twins = new TwinWatch({ store, readingsOf });
  onTestFinished(() => twins.close());
  twins.watch([['lb-1', 'lb-2']]);
  return {
    twins,
    answering,
    ends,
    looks,
    /** Something was read of an appliance. */
    read(appliance: string) {
      const reading = {
        collector: farmConfigCollector,
        data: {},
        askedAtElapsedMs: 0,
        maxStaleMs: 1,
        lifeMs: 1,
        isWhole: true,
      };
      twins.listenerOf(appliance).onReading?.(reading, [], { atMs: 0, atElapsedMs: 0 });
    },
    async shown(name = 'zlb_twin_differences') {
      const text = await textOf(store);
      return seriesOf(text, name).map((line) =>
        line.replaceAll(/.*?\w+="([^"]*)"(?=.*\})|\} /g, '$1 ').replaceAll(/ +/g, ' '),
      );
    },
  };
}

const numbers = (count: number): readonly string[] => [
  `lb-1 lb-2 certificate ${count}`,
  `lb-2 lb-1 certificate ${count}`,
];

it('twins are compared soon after a start, and shown for both, as far as both are known', async () => {
  const { twins, shown } = givenTwins();
  expect(await shown('zlb_twins_info')).toEqual(['lb-1 lb-2 1']);
  expect(await shown()).toEqual([]);
  expect(twins.twinOf('lb-2')).toEqual({ name: 'lb-1', comparison: undefined });

  await vi.advanceTimersByTimeAsync(5_000);

  expect(await shown()).toEqual(numbers(0));
  expect(twins.twinOf('lb-2')).toMatchObject({ name: 'lb-1', comparison: { differences: [] } });
  expect(twins.twinOf('lb-3')).toBeUndefined();
});

it('twins are compared again once a minute, if something was read', async () => {
  const { shown, ends, read, looks } = givenTwins();
  await vi.advanceTimersByTimeAsync(5_000);
  looks.mockClear();

  await vi.advanceTimersByTimeAsync(10 * minuteMs);
  expect(looks).not.toHaveBeenCalled();

  ends.set('lb-2', 200);
  for (let time = 0; time < 100; time += 1) read('lb-2');
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(looks).toHaveBeenCalledTimes(2);
  expect(await shown()).toEqual(numbers(1));
});

it('twins are not shown once one does not respond, or a reading is too old', async () => {
  const { twins, shown, answering } = givenTwins();
  await vi.advanceTimersByTimeAsync(5_000);

  answering.delete('lb-2');
  twins.listenerOf('lb-2').onAnswering?.(false, 'timeout');
  expect(await shown()).toEqual([]);
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(await shown()).toEqual([]);

  answering.add('lb-2');
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(await shown()).toEqual(numbers(0));

  twins.listenerOf('lb-1').onRemoved?.({ collector: 'certificates' }, 'stale');
  expect(await shown()).toEqual([]);
});

/** Sixty farms, of each of which one appliance has three hundred backends that the other one lacks. */
function manyBackends(appliance: string): readonly (readonly [string, Reading])[] {
  const names = Array.from({ length: 60 }, (_, index) => `farm-${index}`);
  const list = { farms: names.map((name) => ({ name, profile: 'http', state: 'up' })), excluded: 0 };
  const backend = { object: 'backend', service: 'web', settings: { weight: '1' } } as const;
  const configured = (farm: string) =>
    Array.from({ length: 300 }, (_, index) => ({ ...backend, farm, name: `${appliance}-${index}` }));
  return [
    ['farms', { ...givenReading, collector: 'farms', data: list }],
    ...names.map((farm): readonly [string, Reading] => [
      readingKey({ collector: 'farm_config', farm }),
      { ...givenReading, collector: 'farm_config', farm, data: { objects: configured(farm) } },
    ]),
  ];
}

it('twins with very many differences let other work run, and an outdated comparison is not shown', async () => {
  const { twins, shown } = givenTwins(manyBackends);
  const compared = () => twins.twinOf('lb-2')?.comparison?.differences.length;

  const turns = await turnsDuring(async () => {
    await vi.advanceTimersByTimeAsync(5_000);
    while (compared() !== 36_000) await new Promise((resolve) => setImmediate(resolve));
  });
  expect(turns).toBeGreaterThan(10);

  twins.listenerOf('lb-1').onAnswering?.(false, 'timeout');
  await vi.advanceTimersByTimeAsync(minuteMs);
  twins.listenerOf('lb-1').onAnswering?.(false, 'timeout');
  for (let turn = 0; turn < 500; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect([compared(), await shown()]).toEqual([undefined, []]);
});

it('a reload drops the pairs that it no longer names', async () => {
  const { twins, shown } = givenTwins();
  await vi.advanceTimersByTimeAsync(5_000);

  twins.watch([]);

  expect(await shown()).toEqual([]);
  expect(await shown('zlb_twins_info')).toEqual([]);
  expect(twins.twinOf('lb-1')).toBeUndefined();
});
