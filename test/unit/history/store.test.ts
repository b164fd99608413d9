import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfiguredObject } from '../../../src/collectors/configured.ts';
import type { HistoryEvent } from '../../../src/history/event.ts';
import { HistoryStore, inMemory } from '../../../src/history/store.ts';
import { givenFolder } from '../../support/folder.ts';

const minuteMs = 60_000;

function givenStore(file = ':memory:') {
  const store = new HistoryStore(file);
  onTestFinished(() => store.close());
  let atMs = 0;
  return {
    /** Reads the backends of a farm a minute later. */
    read(objects: readonly ConfiguredObject[], farm = 'shop', scope = 'https://lb'): readonly HistoryEvent[] {
      atMs += minuteMs;
      const askedMs = atMs - 1_000;
      return store.write([
        { reading: { appliance: 'lb', collector: 'farm_config', farm, scope, askedMs, atMs, objects } },
      ]);
    },
    /** Has alice change a backend in the minute before the next reading. */
    touch() {
      const [fromMs, untilMs] = [atMs + 1, atMs + 2];
      const call = { appliance: 'lb', route: 'PUT /farms/{farmname}', by: 'call 1 by alice' };
      store.write([
        { touch: { ...call, id: String(atMs), params: { farmname: 'shop' }, fields: {}, fromMs, untilMs } },
      ]);
    },
    setClockBack() {
      atMs -= 3 * minuteMs;
    },
    events: () => store.find({ limit: 1_000 }),
  };
}

const backend = (name: string, settings: Readonly<Record<string, string>>, id = '0'): ConfiguredObject => ({
  object: 'backend',
  farm: 'shop',
  service: 'web',
  name,
  id,
  settings,
});

describe('the history of an appliance', () => {
  it('has no event of a first reading, and none of the same one', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.1:80', { weight: '5' })]);
    expect(events()).toEqual([]);
  });

  it('has what was before and after, and between which readings', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.1:80', { weight: '1' })]);
    expect(events()).toEqual([
      {
        id: 1,
        kind: 'configuration',
        appliance: 'lb',
        farm: 'shop',
        sinceMs: minuteMs - 1_000,
        atMs: 2 * minuteMs,
        by: 'elsewhere',
        count: 1,
        differences: [
          {
            object: 'backend',
            farm: 'shop',
            service: 'web',
            name: '10.0.0.1:80',
            setting: 'weight',
            before: '5',
            after: '1',
          },
        ],
      },
    ]);
  });

  it('takes no difference from a setting that one of the readings does not know', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.1:80', {})]);
    read([backend('10.0.0.1:80', { weight: '5', priority: '1' })]);
    expect(events()).toEqual([]);
    read([backend('10.0.0.1:80', { weight: '4' })]);
    expect(events()).toMatchObject([{ differences: [{ setting: 'weight', before: '5', after: '4' }] }]);
  });

  it('knows a setting through a reading that does not have it', () => {
    const { read, events } = givenStore();
    for (const settings of [{ weight: '5' }, {}, { weight: '4' }]) read([backend('10.0.0.1:80', settings)]);
    expect(events()).toMatchObject([{ differences: [{ setting: 'weight', before: '5', after: '4' }] }]);
  });

  it('has each change where two people undo what the other does', () => {
    const { read, events, touch } = givenStore();
    for (const weight of ['5', '1', '5', '1', '5']) {
      if (weight === '5') touch();
      read([backend('10.0.0.1:80', { weight })]);
    }
    expect(events().map(({ by, count }) => `${by} ${count}`)).toEqual([
      'call 1 by alice 1',
      'elsewhere 1',
      'call 1 by alice 1',
      'elsewhere 1',
    ]);
  });

  it('tells a backend that is new, one that is gone, and one of another address', () => {
    const { read } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    expect(read([backend('10.0.0.1:80', { weight: '5' }), backend('10.0.0.2:80', { weight: '2' })])).toMatchObject([
      { differences: [{ name: '10.0.0.2:80', setting: '', after: 'weight 2' }] },
    ]);
    expect(read([backend('10.0.0.3:80', { weight: '5' }), backend('10.0.0.2:80', { weight: '2' })])).toMatchObject([
      { differences: [{ name: '10.0.0.1:80', setting: 'name', before: '10.0.0.1:80', after: '10.0.0.3:80' }] },
    ]);
    expect(read([backend('10.0.0.2:80', { weight: '2' })])).toMatchObject([
      { differences: [{ name: '10.0.0.3:80', setting: '', before: 'weight 5' }] },
    ]);
  });

  it('compares nothing with another address, or another choice of farms', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.9:80', { weight: '1' })], 'shop', 'https://other');
    expect(events()).toEqual([]);
  });

  it('is one event with a number where an appliance alternates between two answers', () => {
    const { read, events } = givenStore();
    for (let time = 0; time <= 40; time += 1) read([backend('10.0.0.1:80', { weight: String(time % 2) })]);
    expect(events()).toMatchObject([{ count: 40, differences: [{ before: '1', after: '0' }] }]);
  });

  it('has both events where somebody sets something and puts it back', () => {
    const { read, events } = givenStore();
    for (const weight of ['5', '1', '5']) read([backend('10.0.0.1:80', { weight })]);
    expect(events()).toMatchObject([
      { count: 1, differences: [{ before: '1', after: '5' }] },
      { count: 1, differences: [{ before: '5', after: '1' }] },
    ]);
  });

  it('does not take for the work of a call that a kill has interrupted what changes a day later', () => {
    const file = join(givenFolder(), 'history.db');
    const touch = { appliance: 'lb', route: 'PUT /farms/{farmname}/services/{service}', by: 'call 1 by alice' };
    const killed = new HistoryStore(file);
    killed.write([{ touch: { ...touch, id: '1', params: { farmname: 'shop' }, fields: {}, fromMs: 5 * minuteMs } }]);
    killed.close();
    const { read } = givenStore(file);
    for (let minute = 0; minute < 10; minute += 1) read([backend('10.0.0.1:80', { weight: '5' })]);

    expect(read([backend('10.0.0.1:80', { weight: '1' })])).toMatchObject([{ by: 'elsewhere' }]);
  });

  it('tells who changed something, and when, after the clock was set back by an hour', () => {
    const store = new HistoryStore(inMemory);
    onTestFinished(() => store.close());
    const read = (minute: number, weight: string, seenMinute?: number): readonly HistoryEvent[] => {
      const [askedMs, atMs] = [minute * minuteMs - 1_000, minute * minuteMs];
      const seenMs = seenMinute === undefined ? undefined : seenMinute * minuteMs - 1_000;
      const place = { appliance: 'lb', collector: 'farm_config', farm: 'shop', scope: 'https://lb' };
      const objects = [backend('10.0.0.1:80', { weight })];
      return store.write([{ reading: { ...place, askedMs, atMs, seenMs, objects } }]);
    };
    const touch = (minute: number, by: string): void => {
      const call = { appliance: 'lb', route: 'PUT /farms/{farmname}', params: { farmname: 'shop' }, fields: {} };
      store.write([{ touch: { ...call, by, id: by, fromMs: minute * minuteMs, untilMs: minute * minuteMs + 1 } }]);
    };
    read(120, '5');
    touch(119, 'call 1 by alice');
    // The appliance said the same at minute 60 of the new time.
    touch(61, 'call 2 by bob');
    expect(read(62, '1', 60)).toMatchObject([{ by: 'call 2 by bob', sinceMs: 60 * minuteMs - 1_000 }]);
    // Alice's call is of the time before.
    expect(read(64, '7', 63)).toMatchObject([{ by: 'elsewhere', sinceMs: 63 * minuteMs - 1_000 }]);
  });

  it('begins no event after its end where the clock was set back between two readings', () => {
    const { read, setClockBack } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    setClockBack();
    expect(read([backend('10.0.0.1:80', { weight: '1' })])).toMatchObject([
      { sinceMs: -minuteMs - 1_000, atMs: -minuteMs },
    ]);
  });

  it('is one event with a list where a restored backup changes 500 objects', () => {
    const { read, events } = givenStore();
    const farms = Array.from({ length: 100 }, (_, index) => `farm-${index}`);
    const all = (farm: string, weight: string): readonly ConfiguredObject[] =>
      Array.from({ length: 5 }, (_, index) => ({ ...backend(`10.0.0.${index}:80`, { weight }), farm }));
    for (const farm of farms) read(all(farm, '1'), farm);
    const counted = farms.flatMap((farm) => read(all(farm, '2'), farm).flatMap(({ differences }) => differences));
    expect(counted).toHaveLength(500);
    expect(events()).toHaveLength(1);
    expect(events()[0]?.differences).toHaveLength(500);
  });
});
