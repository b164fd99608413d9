import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConfiguredObject } from '../../../src/collectors/configured.ts';
import { HistoryDatabase, inMemory } from '../../../src/history/database.ts';
import { EventLog } from '../../../src/history/event-log.ts';
import type { NewEvent } from '../../../src/history/event.ts';
import { toStoredEvent } from '../../../src/history/stored-event.ts';
import { HistoryStore } from '../../../src/history/store.ts';
import { givenFolder } from '../../support/folder.ts';

const minuteMs = 60_000;
const place = { appliance: 'lb', collector: 'farm_config' } as const;
const setsWeight = {
  appliance: 'lb',
  route: 'PUT /farms/{farmname}/services/{service}/backends/{backend}',
  params: { farmname: 'shop', service: 'web', backend: '0' },
  fields: { weight: null },
};

function givenStore(file = ':memory:') {
  const store = new HistoryStore(file);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) store.close();
    isOpen = false;
  };
  onTestFinished(close);
  let atMs = 0;
  const writeAll = (events: readonly NewEvent[]): void =>
    void store.write(events.map((event) => ({ event: toStoredEvent(event) })));
  const write = (event: NewEvent): void => writeAll([event]);
  return {
    store,
    close,
    write,
    writeAll,
    /** The farm `shop` becomes up or down, at this minute. */
    becomes(after: 'up' | 'down', minute: number) {
      const [farm, before] = ['shop', after === 'up' ? 'down' : 'up'];
      const difference = { object: 'farm', farm, service: '', name: farm, setting: 'state', before, after } as const;
      write({ kind: 'state', appliance: 'lb', farm, atMs: minute * minuteMs, differences: [difference] });
    },
    /** Reads the backends of a farm a minute later. */
    read(objects: readonly ConfiguredObject[], farm = 'shop', scope = 'https://lb'): readonly NewEvent[] {
      atMs += minuteMs;
      const askedMs = atMs - 1_000;
      return store.write([
        { reading: { ...place, farm, scope, askedMs, cameMs: atMs, objects: JSON.stringify(objects) } },
      ]);
    },
    /** Has alice change a backend in the minute before the next reading. */
    recordCall() {
      const [fromMs, untilMs] = [atMs + 1, atMs + 2];
      store.write([{ call: { ...setsWeight, by: 'call 1 by alice', id: String(atMs), fromMs, untilMs } }]);
    },
    setClockBack() {
      atMs -= 3 * minuteMs;
    },
    events: () => store.find({ limit: 1_000 }).events,
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
  it('has no event for a first reading, nor for an unchanged one', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.1:80', { weight: '5' })]);
    expect(events()).toEqual([]);
  });

  it('records the values before and after, and between which readings', () => {
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

  it('records no difference for a setting that one of the readings lacks', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.1:80', {})]);
    read([backend('10.0.0.1:80', { weight: '5', priority: '1' })]);
    expect(events()).toEqual([]);
    read([backend('10.0.0.1:80', { weight: '4' })]);
    expect(events()).toMatchObject([{ differences: [{ setting: 'weight', before: '5', after: '4' }] }]);
  });

  it('remembers a setting across a reading that lacks it', () => {
    const { read, events } = givenStore();
    for (const settings of [{ weight: '5' }, {}, { weight: '4' }]) read([backend('10.0.0.1:80', settings)]);
    expect(events()).toMatchObject([{ differences: [{ setting: 'weight', before: '5', after: '4' }] }]);
  });

  it("records each change when two people undo each other's work", () => {
    const { read, events, recordCall } = givenStore();
    for (const weight of ['5', '1', '5', '1', '5']) {
      if (weight === '5') recordCall();
      read([backend('10.0.0.1:80', { weight })]);
    }
    expect(events().map(({ by, count }) => `${by} ${count}`)).toEqual([
      'call 1 by alice 1',
      'elsewhere 1',
      'call 1 by alice 1',
      'elsewhere 1',
    ]);
  });

  it('distinguishes a new backend, a removed one, and one with another address', () => {
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

  it('compares nothing after a change of the address or the farm filter', () => {
    const { read, events } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.9:80', { weight: '1' })], 'shop', 'https://other');
    expect(events()).toEqual([]);
  });

  it('records one event with a count when an appliance alternates between two values', () => {
    const { read, events } = givenStore();
    for (let time = 0; time <= 40; time += 1) read([backend('10.0.0.1:80', { weight: String(time % 2) })]);
    expect(events()).toMatchObject([{ count: 40, differences: [{ before: '1', after: '0' }] }]);
  });

  it('records both events when somebody sets something and sets it back', () => {
    const { read, events } = givenStore();
    for (const weight of ['5', '1', '5']) read([backend('10.0.0.1:80', { weight })]);
    expect(events()).toMatchObject([
      { count: 1, differences: [{ before: '1', after: '5' }] },
      { count: 1, differences: [{ before: '5', after: '1' }] },
    ]);
  });

  it('does not attribute a change a day later to a call that a kill interrupted', () => {
    const file = join(givenFolder(), 'history.db');
    const killed = new HistoryStore(file);
    killed.write([{ call: { ...setsWeight, by: 'call 1 by alice', id: '1', fromMs: 5 * minuteMs } }]);
    killed.close();
    const { read } = givenStore(file);
    for (let minute = 0; minute < 10; minute += 1) read([backend('10.0.0.1:80', { weight: '5' })]);

    expect(read([backend('10.0.0.1:80', { weight: '1' })])).toMatchObject([{ by: 'elsewhere' }]);
  });

  it('records who changed something, and when, after the clock was set back by an hour', () => {
    const store = new HistoryStore(inMemory);
    onTestFinished(() => store.close());
    const read = (minute: number, weight: string, seenMinute?: number): readonly NewEvent[] => {
      const [askedMs, atMs] = [minute * minuteMs - 1_000, minute * minuteMs];
      const previousAskedMs = seenMinute === undefined ? undefined : seenMinute * minuteMs - 1_000;
      const place = { appliance: 'lb', collector: 'farm_config', farm: 'shop', scope: 'https://lb' };
      const objects = JSON.stringify([backend('10.0.0.1:80', { weight })]);
      return store.write([{ reading: { ...place, askedMs, cameMs: atMs, previousAskedMs, objects } }]);
    };
    const recordCall = (minute: number, by: string): void => {
      store.write([{ call: { ...setsWeight, by, id: by, fromMs: minute * minuteMs, untilMs: minute * minuteMs + 1 } }]);
    };
    read(120, '5');
    recordCall(119, 'call 1 by alice');
    // The appliance said the same at minute 60 of the new time.
    recordCall(61, 'call 2 by bob');
    expect(read(62, '1', 60)).toMatchObject([{ by: 'call 2 by bob', sinceMs: 60 * minuteMs - 1_000 }]);
    // Alice's call is of the time before.
    expect(read(64, '7', 63)).toMatchObject([{ by: 'elsewhere', sinceMs: 63 * minuteMs - 1_000 }]);
  });

  it('starts no event after its end when the clock was set back between two readings', () => {
    const { read, setClockBack } = givenStore();
    read([backend('10.0.0.1:80', { weight: '5' })]);
    setClockBack();
    expect(read([backend('10.0.0.1:80', { weight: '1' })])).toMatchObject([
      { sinceMs: -minuteMs - 1_000, atMs: -minuteMs },
    ]);
  });

  it('records one event with a list when a restored backup changes 500 objects', () => {
    const { read, events } = givenStore();
    const farms = Array.from({ length: 100 }, (_, index) => `farm-${index}`);
    const all = (farm: string, weight: string): readonly ConfiguredObject[] =>
      Array.from({ length: 5 }, (_, index) => ({ ...backend(`10.0.0.${index}:80`, { weight }), farm }));
    for (const farm of farms) read(all(farm, '1'), farm);
    const counted = farms.flatMap((farm) => read(all(farm, '2'), farm).flatMap(({ differences }) => differences));
    expect(counted).toHaveLength(500);
    expect(events()).toHaveLength(1);
    expect(events()[0]?.differences).toHaveLength(50);
    expect(events()[0]?.unlisted).toBe(450);
  });

  it('records two outages and the recovery between them as three events', () => {
    const { becomes, events } = givenStore();
    becomes('down', 0);
    becomes('up', 14);
    becomes('down', 29);

    expect(events().map(({ count, atMs, differences: [each] }) => [atMs / minuteMs, each?.after, count])).toEqual([
      [29, 'down', 1],
      [14, 'up', 1],
      [0, 'down', 1],
    ]);
  });

  it('records a quick alternation as one event, with its count and the last time of each direction', () => {
    const { becomes, events } = givenStore();
    for (const [index, minute] of [0, 4, 5, 9, 10].entries()) becomes(index % 2 ? 'up' : 'down', minute);
    becomes('up', 40);
    becomes('down', 41);

    expect(events().map(({ id: _id, differences: [each], ...event }) => ({ ...event, after: each?.after }))).toEqual([
      expect.objectContaining({ count: 1, after: 'down', atMs: 41 * minuteMs }),
      expect.objectContaining({ count: 1, after: 'up', atMs: 40 * minuteMs }),
      expect.objectContaining({
        count: 5,
        after: 'down',
        sinceMs: 0,
        atMs: 10 * minuteMs,
        reversedMs: 9 * minuteMs,
      }),
    ]);
  });

  it('records an event in its own row again when the alternation slows down', () => {
    const { becomes, events } = givenStore();
    for (const [index, minute] of [0, 1, 2, 3, 12, 22].entries()) becomes(index % 2 ? 'up' : 'down', minute);

    // Minutes 2, 3 and 12 are within ten of each other, and 3, 12 and 22 are not.
    expect(events().map(({ atMs, count }) => [atMs / minuteMs, count])).toEqual([
      [22, 1],
      [12, 5],
    ]);
  });
});

describe('an event with very many differences', () => {
  const flap = (index: number, count = 450): NewEvent => ({
    kind: 'state',
    appliance: 'lb',
    farm: 'shop',
    atMs: index * minuteMs,
    differences: Array.from({ length: count }, (_, at) => ({
      object: 'backend',
      farm: 'shop',
      service: 's'.repeat(200),
      name: `${at}-${index}-${'n'.repeat(240)}`,
      setting: 'state',
      before: 'up',
      after: 'down',
    })),
  });

  it('takes a few KB, and counts those that it does not list', () => {
    const { write, events } = givenStore();
    write(flap(1));

    const [event] = events();
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(10_000);
    expect(event!.differences.length).toBeGreaterThan(5);
    expect(event!.differences.length + event!.unlisted!).toBe(450);
  });

  it('takes a few KB when one name alone has a hundred', () => {
    const { write, events } = givenStore();
    const [difference] = flap(1, 1).differences;
    write({
      ...flap(1, 0),
      differences: [{ ...difference!, name: '\u{4e00}'.repeat(100_000), after: '\0'.repeat(9_000) }],
    });

    expect(Buffer.byteLength(JSON.stringify(events()))).toBeLessThan(10_000);
  });

  it('is merged with the event that reverts it, as a short one is', () => {
    const { write, events } = givenStore();
    const { differences, ...event } = flap(1);
    const back = differences.map((each) => ({ ...each, before: each.after, after: each.before }));
    write({ ...event, differences });
    write({ ...event, differences: back });
    // Differs in one that no event lists.
    write({ ...event, differences: differences.slice(0, -1) });

    expect(events().map(({ count }) => count)).toEqual([1, 1, 1]);
    write({ ...event, differences });
    expect(events().map(({ count }) => count)).toEqual([3, 1]);
  });

  it('is found for each of its farms, because it does not list them', () => {
    const { store, write } = givenStore();
    const { differences } = flap(1);
    const config = { ...flap(1, 0), kind: 'configuration' } as const;
    write({
      ...config,
      by: 'elsewhere',
      farm: '',
      differences: differences.map((each, index) => ({ ...each, farm: `farm-${index}` })),
    });
    write({ ...config, by: 'call 1 by alice', farm: 'mail', differences: [{ ...differences[0]!, farm: 'mail' }] });

    expect(store.find({ appliance: 'lb', farm: 'farm-449', limit: 10 }).events).toMatchObject([{ farm: '' }]);
    expect(store.find({ appliance: 'lb', farm: 'mail', limit: 10 }).events).toHaveLength(2);
  });

  it('is found page by page, each once, in responses of up to a megabyte', () => {
    const { store, write } = givenStore();
    for (let index = 0; index < 300; index += 1) write(flap(index, 20));

    const found: number[] = [];
    let next: string | undefined;
    let answers = 0;
    do {
      const answer = store.find({ limit: 1_000, before: next });
      expect(JSON.stringify(answer).length).toBeLessThan(1_100_000);
      found.push(...answer.events.map(({ atMs }) => atMs));
      ({ next } = answer);
      answers += 1;
    } while (next !== undefined);

    expect(answers).toBeGreaterThan(2);
    expect(found).toEqual(Array.from({ length: 300 }, (_, index) => (299 - index) * minuteMs));
  });

  it('is searched in parts, because a search may read far more than it finds', () => {
    const database = new HistoryDatabase(inMemory);
    onTestFinished(() => database.close());
    const log = new EventLog(database, () => undefined);
    const event = JSON.stringify({ appliance: 'lb', farm: '', kind: 'state', atMs: 1, count: 1, differences: [] });
    for (let at = 0; at < 5_000; at += 1)
      database.run(
        `INSERT INTO events (appliance, farm, kind, atMs, bytes, subject, digest, event)
         VALUES ('lb', '', 'state', :at, 8192, '', '', :event)`,
        { at, event },
      );

    const answers = [log.find({ farm: 'another', limit: 1_000 })];
    for (let next = answers.at(-1)?.next; next !== undefined; next = answers.at(-1)?.next)
      answers.push(log.find({ farm: 'another', limit: 1_000, before: next }));

    expect(answers).toEqual([
      { events: [], next: expect.any(String) },
      { events: [], next: expect.any(String) },
      { events: [] },
    ]);
  });

  it('stays within the memory limit, without anybody pruning', () => {
    const { store, write } = givenStore();
    for (let index = 0; index < 3_000; index += 1) write(flap(index, 15));

    let [bytes, next]: [number, string | undefined] = [0, undefined];
    do {
      const answer = store.find({ limit: 1_000, before: next });
      bytes += JSON.stringify(answer).length;
      ({ next } = answer);
    } while (next !== undefined);
    expect(bytes).toBeLessThan(16_777_216);
    expect(bytes).toBeGreaterThan(10_000_000);
  });
});

describe('the history share of an appliance', () => {
  const state = (appliance: string, farm: string, atMs: number, after: string): NewEvent => ({
    kind: 'state',
    appliance,
    farm,
    atMs,
    differences: [{ object: 'farm', farm, service: '', name: farm, setting: 'state', before: 'x', after }],
  });

  it('is not affected by another one that fills the history', () => {
    const { store, write, writeAll, read } = givenStore();
    const change = { kind: 'change', appliance: 'good', farm: 'shop', atMs: 1, differences: [] } as const;
    write({ ...change, by: 'call 1 by alice', text: 'Modify a farm: HTTP 200' });
    read([backend('10.0.0.1:80', { weight: '5' })]);
    read([backend('10.0.0.1:80', { weight: '1' })]);
    for (let round = 0; round < 30; round += 1) {
      const [atMs, after] = [(10 + round) * minuteMs, ['up', 'down', 'problem'][round % 3]!];
      writeAll(Array.from({ length: 500 }, (_, farm) => state('evil', `farm-${farm}`, atMs, after)));
    }

    expect(store.find({ appliance: 'good', limit: 10 }).events).toMatchObject([{ by: 'call 1 by alice' }]);
    expect(store.find({ appliance: 'lb', limit: 10 }).events).toMatchObject([{ kind: 'configuration' }]);
    const evil = store.find({ appliance: 'evil', limit: 1_000 });
    expect(evil.events[0]?.atMs).toBe(39 * minuteMs);
  });

  it('loses the actions of people and the configuration last', () => {
    const { store, write, writeAll } = givenStore();
    const [farm, differences] = ['shop', state('lb', 'shop', 0, 'up').differences] as const;
    write({ kind: 'change', appliance: 'lb', farm, atMs: 1, by: 'call 1 by alice', text: 'x', differences: [] });
    write({ kind: 'configuration', appliance: 'lb', farm, atMs: 2, by: 'elsewhere', differences });
    const each = Array.from({ length: 11_000 }, (_, index) => index);
    writeAll(each.map((index) => state('lb', 'shop', 100 + index, String(index))));

    const kinds = ['change', 'configuration'] as const;
    expect(store.find({ kinds, limit: 10 }).events.map(({ kind }) => kind)).toEqual(['configuration', 'change']);
    expect(store.find({ limit: 1 }).events).toMatchObject([{ atMs: 11_099 }]);
    const change = { kind: 'change', appliance: 'lb', farm, by: 'a', text: 'x', differences: [] } as const;
    writeAll(each.map((index) => ({ ...change, atMs: 20_000 + index })));
    expect(store.find({ kinds: ['state', 'configuration'], limit: 10 }).events).toEqual([]);
  });

  it('limits the configurations of an appliance that keeps adding farms, with one warning', () => {
    const { store, read } = givenStore();
    const noise = (): string => randomBytes(700_000).toString('base64');
    for (let farm = 0; farm < 30; farm += 1) read([backend('10.0.0.1:80', { weight: noise() })], `farm-${farm}`);
    read([backend('10.0.0.1:80', { weight: '1' })], 'farm-29');
    read([backend('10.0.0.1:80', { weight: '1' })], 'farm-0');

    expect(store.find({ limit: 10 }).events).toHaveLength(1);
    expect(store.takeFindings()).toEqual({
      damaged: 0,
      warnings: [expect.stringMatching(/^the configuration of lb takes more than .* are not compared/)],
    });
  });
});

/** A reading of 80 MiB, packed, that is one otherwise. */
function bomb(): Buffer {
  return deflateRawSync(`[]${' '.repeat(83_886_080)}`);
}

describe('a damaged row', () => {
  function givenDamage(damage: string) {
    const file = join(givenFolder(), 'history.db');
    const before = givenStore(file);
    before.recordCall();
    before.read([backend('10.0.0.1:80', { weight: '5' })]);
    before.read([backend('10.0.0.1:80', { weight: '1' })]);
    before.becomes('down', 90);
    before.close();
    const database = new DatabaseSync(file);
    database.exec(damage);
    database.close();
    return givenStore(file);
  }

  it.each([
    ['malformed JSON', "UPDATE events SET event = substr(event, 1, 40) WHERE kind = 'configuration'"],
    ['not an event', "UPDATE events SET event = '[1]' WHERE kind = 'configuration'"],
    ['half an event', "UPDATE events SET event = json_remove(event, '$.differences') WHERE kind = 'configuration'"],
    ['without an author', "UPDATE events SET event = json_set(event, '$.by', 5) WHERE kind = 'configuration'"],
    [
      'a value that is not text',
      "UPDATE events SET event = json_set(event, '$.text', json('{}')) WHERE kind = 'configuration'",
    ],
    ['without a start', "UPDATE events SET event = json_set(event, '$.sinceMs', 'x') WHERE kind = 'configuration'"],
    [
      'with values that are not text',
      "UPDATE events SET event = json_set(event, '$.differences[0].before', json('[1]')) WHERE kind = 'configuration'",
    ],
  ])('is skipped in the events, and counted once: %s', (_, damage) => {
    const { store, read, events, becomes } = givenDamage(damage);

    expect(events()).toMatchObject([{ kind: 'state' }]);
    for (const farm of ['shop', 'mail']) store.find({ farm, limit: 10 });
    read([backend('10.0.0.1:80', { weight: '7' })]);
    becomes('up', 120);
    expect(events()).toMatchObject([{ kind: 'state' }, { kind: 'state' }, { kind: 'configuration' }]);
    const { damaged, warnings } = store.takeFindings();
    expect(damaged).toBe(1);
    expect(warnings).toEqual([
      expect.stringMatching(/^event \d+ cannot be read .*name another file as history\.file$/),
    ]);
    expect(store.takeFindings()).toEqual({ damaged: 0, warnings: [] });
  });

  it.each([
    ['not an archive', "UPDATE readings SET objects = x'00ff'"],
    ['a compression bomb', `UPDATE readings SET objects = x'${bomb().toString('hex')}'`],
    ['half of one', 'UPDATE readings SET objects = substr(objects, 1, length(objects) / 2)'],
  ])('costs only its comparison in the readings: %s', (_, damage) => {
    const { store, read, events } = givenDamage(damage);

    read([backend('10.0.0.1:80', { weight: '7' })]);
    expect(events()).toHaveLength(2);
    read([backend('10.0.0.1:80', { weight: '8' })]);
    expect(events()).toHaveLength(3);
    expect(store.takeFindings()).toMatchObject({ damaged: 1, warnings: [expect.stringContaining('reading of lb')] });
  });

  it('yields no author in the calls, and stops nothing', () => {
    const { store, read, events } = givenDamage("UPDATE calls SET call = 'x', fromMs = 0, untilMs = NULL");
    store.write([]);

    read([backend('10.0.0.1:80', { weight: '7' })]);
    expect(events()).toMatchObject([{}, {}, {}].slice(0, events().length));
    expect(events().some(({ differences }) => differences[0]?.after === '7')).toBe(true);
  });
});

describe('the times of a farm', () => {
  const hourMs = 60 * minuteMs;
  const hour = (fromMs: number, up: number) => ({ farm: 'shop', spanMs: hourMs, fromMs, up, down: 0, maintenance: 0 });

  it('add up, belong to one farm, and are kept for two days by hours', () => {
    const { store } = givenStore();
    const write = (...times: readonly ReturnType<typeof hour>[]) => store.write([{ appliance: 'lb', times }]);
    write(hour(0, 5), { ...hour(0, 9), farm: 'db' });
    write(hour(0, 7));

    expect(store.timesOf('lb', 'shop')).toMatchObject([{ spanMs: hourMs, fromMs: 0, up: 12 }]);
    write(hour(60 * hourMs, 1));
    expect(store.timesOf('lb', 'shop').map(({ fromMs }) => fromMs)).toEqual([60 * hourMs]);
    expect(store.timesOf('lb-2', 'shop')).toEqual([]);
  });

  it('are limited to 2,500 farms of an appliance, of which the oldest are evicted first', () => {
    const { store } = givenStore();
    const named = (round: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...hour(round * hourMs, 1), farm: `${round}-${index}` }));
    store.write([{ appliance: 'lb-2', times: [hour(0, 5)] }]);
    store.write([{ appliance: 'lb', times: [hour(2 * hourMs, 60_000)] }]);
    for (let round = 0; round < 3; round += 1) store.write([{ appliance: 'lb', times: named(round, 1_200) }]);

    const isKnown = (farm: string, appliance = 'lb') => store.timesOf(appliance, farm).length > 0;
    const known = named(0, 1_200).filter(({ farm }) => isKnown(farm));
    expect(known).toHaveLength(2_500 - 1 - 2_400);
    expect([isKnown('shop'), isKnown('2-0'), isKnown('shop', 'lb-2')]).toEqual([true, true, true]);
  });

  it('are removed with what is older than the history keeps', () => {
    const { store } = givenStore();
    store.write([{ appliance: 'lb', times: [hour(0, 5)] }]);
    store.prune(hourMs);

    expect(store.timesOf('lb', 'shop')).toEqual([]);
  });
});
