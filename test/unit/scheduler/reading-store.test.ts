import { describe, expect, it } from 'vitest';
import { type Emit, gauge, stateSet } from '../../../src/metrics/family.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { ReadingStore, type StoredReadings } from '../../../src/scheduler/reading-store.ts';
import { textOf } from '../../support/store-text.ts';

const farmState = stateSet('zlb_state', 'A state.', ['farm'], ['up', 'down', 'unknown']);
const sessions = gauge('zlb_sessions', 'A number.', ['farm']);
const backend = { ...gauge('zlb_backend', 'A small thing.', ['farm', 'backend']), isDetail: true };
const weight = { ...gauge('zlb_weight', 'What it weighs.', ['farm', 'backend']), isDetail: true };

interface Given {
  readonly readingStore: ReadingStore;
  readonly page: () => Promise<string[]>;
  readonly told: string[];
  /** Another readingStore for the same readings, as a reload makes it. */
  readonly successor: () => Given;
}

function given({
  maxSeries = 100,
  maxBytes = 1_000,
  stored = new Map() as StoredReadings,
  store = createMetricsStore([farmState, sessions, backend, weight]),
} = {}): Given {
  const told: string[] = [];
  store.arrange(['lb']);
  const readingStore = new ReadingStore({
    appliance: 'lb',
    stored,
    evicted: new Map(),
    store,
    maxSeries,
    maxBytes,
    priority: (collector) => ['farms', 'backends'].indexOf(collector),
    isExtended: () => false,
    onDropped: (reason, series) => told.push(`${series} dropped: ${reason}`),
    onUnknownState: (family, word) => told.push(`${family}: ${word}`),
  });
  const page = async () => (await textOf(store)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { readingStore, page, told, successor: () => given({ maxSeries, stored: new Map(stored), store }) };
}

const nothingSaid = { data: undefined, since: undefined, bytes: 0 };
const freshUntil = (ageMs: number) => ({ ...nothingSaid, takenAtMs: 0, maxStaleMs: ageMs, extendedMs: ageMs });

/** A reading of one sample that may be shown until then. */
const reading = (farm: string, value: number, freshUntilMs = 1_000) => ({
  ...freshUntil(freshUntilMs),
  write: (emit: Emit) => emit.sample(sessions, { farm }, value),
});

/** A reading of three series of a state, and one of a number. */
const stateAndNumber = (farm: string) => ({
  ...freshUntil(1_000),
  write(emit: Emit) {
    emit.state(farmState, { farm }, 'up');
    emit.sample(sessions, { farm }, 2);
  },
});

describe('the readingStore', () => {
  it('shows the newest reading of each origin', async () => {
    const { readingStore, page } = given();

    readingStore.put({ collector: 'backends', farm: 'shop' }, reading('shop', 1));
    readingStore.put({ collector: 'backends', farm: 'db' }, reading('db', 2));
    readingStore.put({ collector: 'backends', farm: 'shop' }, reading('shop', 3));

    expect(await page()).toEqual([
      'zlb_sessions{appliance="lb",farm="shop"} 3',
      'zlb_sessions{appliance="lb",farm="db"} 2',
    ]);
  });

  it('drops series that a newer reading of the same origin does not have', async () => {
    const { readingStore, page } = given();

    readingStore.put({ collector: 'backends' }, reading('shop', 1));
    readingStore.put({ collector: 'backends' }, { ...freshUntil(1_000), write: () => undefined });

    expect(await page()).toEqual([]);
    expect(readingStore.all.has('backends')).toBe(true);
  });

  it('refuses a reading that is too long beside the others, and takes a newer one of its origin', () => {
    const { readingStore } = given({ maxBytes: 500 });
    const shop = { collector: 'backends', farm: 'shop' };
    const long = { backends: [{ ip: 'x'.repeat(300) }] };
    readingStore.put(shop, { ...reading('shop', 1), bytes: readingStore.admit(shop, long) });

    expect(readingStore.admit(shop, long)).toBeGreaterThan(300);
    expect(() => readingStore.admit({ collector: 'backends', farm: 'db' }, long)).toThrow(
      expect.objectContaining({
        reason: 'oversize',
        message: expect.stringContaining('more than 500 bytes; leave farms out'),
      }),
    );
    readingStore.remove(shop);
    expect(readingStore.admit({ collector: 'backends', farm: 'db' }, long)).toBeGreaterThan(300);
  });

  it('evicts a reading exactly when it is too old, and reports its origin', async () => {
    const { readingStore, page } = given();
    readingStore.put({ collector: 'farms' }, reading('shop', 1, 1_000));
    readingStore.put({ collector: 'backends', farm: 'db' }, reading('db', 2, 2_000));

    const early = readingStore.expire(999);
    const before = await page();
    const first = readingStore.expire(1_000);
    const between = await page();
    const second = readingStore.expire(5_000);

    const evicted = [early, first, second].map((readings) => readings.map(({ collector }) => collector));
    expect(evicted).toEqual([[], ['farms'], ['backends']]);
    expect(before).toHaveLength(2);
    expect(between).toEqual(['zlb_sessions{appliance="lb",farm="db"} 2']);
    expect(await page()).toEqual([]);
    expect(readingStore.all.has('farms')).toBe(false);
  });

  it('keeps a reading that was renewed in time, and counts it once', async () => {
    const { readingStore, page, told } = given({ maxSeries: 1 });
    readingStore.put({ collector: 'farms' }, reading('shop', 1, 1_000));
    readingStore.put({ collector: 'farms' }, reading('shop', 2, 2_000));

    expect(readingStore.expire(1_500)).toEqual([]);
    expect(await page()).toEqual(['zlb_sessions{appliance="lb",farm="shop"} 2']);
    expect(told).toEqual([]);
  });

  it('removes one origin and leaves the others', async () => {
    const { readingStore, page } = given();
    readingStore.put({ collector: 'backends', farm: 'shop' }, reading('shop', 1));
    readingStore.put({ collector: 'backends', farm: 'db' }, reading('db', 2));

    readingStore.remove({ collector: 'backends', farm: 'shop' });
    readingStore.remove({ collector: 'backends', farm: 'never seen' });

    expect(await page()).toEqual(['zlb_sessions{appliance="lb",farm="db"} 2']);
  });

  it('leaves out a family that does not fit, counts it, and restores it when there is room', async () => {
    const { readingStore, page, told } = given({ maxSeries: 4 });
    readingStore.put({ collector: 'farms' }, reading('shop', 1));

    readingStore.put({ collector: 'backends', farm: 'db' }, stateAndNumber('db'));
    const limited = await page();
    readingStore.remove({ collector: 'farms' });
    readingStore.put({ collector: 'backends', farm: 'db' }, stateAndNumber('db'));

    expect(limited.filter((line) => line.startsWith('zlb_state'))).toHaveLength(3);
    expect(limited).not.toContain('zlb_sessions{appliance="lb",farm="db"} 2');
    expect(told).toEqual(['1 dropped: limit']);
    expect(await page()).toContain('zlb_sessions{appliance="lb",farm="db"} 2');
  });

  it('counts inherited series, as after a reload', async () => {
    const before = given({ maxSeries: 4 });
    before.readingStore.put({ collector: 'farms' }, reading('shop', 1));
    const { readingStore, page, told } = before.successor();

    readingStore.put({ collector: 'backends', farm: 'db' }, stateAndNumber('db'));

    expect(told).toEqual(['1 dropped: limit']);
    expect(await page()).toHaveLength(4);
  });

  it('gives room to a collector with priority, in any order of reads', async () => {
    const orders = [
      ['farms', 'backends'],
      ['backends', 'farms'],
    ];

    const pages = await Promise.all(
      orders.map(async (order) => {
        const { readingStore, page, told } = given({ maxSeries: 5 });
        for (const collector of order) readingStore.put({ collector }, stateAndNumber(collector));
        expect(told).toEqual(['3 dropped: limit']);
        return (await page()).toSorted();
      }),
    );

    expect(pages[0]?.filter((line) => line.includes('farm="farms"'))).toHaveLength(4);
    expect(pages[0]).toContain('zlb_sessions{appliance="lb",farm="backends"} 2');
    expect(pages[1]).toEqual(pages[0]);
  });

  it('counts duplicate series, and reports unknown words', async () => {
    const { readingStore, page, told } = given();

    readingStore.put(
      { collector: 'farms' },
      {
        ...freshUntil(1_000),
        write(emit) {
          emit.sample(sessions, { farm: 'shop' }, 1);
          emit.sample(sessions, { farm: 'shop' }, 2);
          emit.state(farmState, { farm: 'shop' }, 'dancing');
        },
      },
    );

    expect(await page()).toContain('zlb_sessions{appliance="lb",farm="shop"} 1');
    expect(await page()).toContain('zlb_state{appliance="lb",farm="shop",status="unknown"} 1');
    expect(told).toEqual(['1 dropped: duplicate', 'zlb_state: dancing']);
  });
});

describe('details at the limit of series', () => {
  /** A reading of one number for the farm and two for each of its backends. */
  const farmWith = (farm: string, backends: number) => ({
    ...freshUntil(1_000),
    write(emit: Emit) {
      emit.sample(sessions, { farm }, backends);
      for (let index = 0; index < backends; index += 1) emit.sample(backend, { farm, backend: `${index}` }, 1);
      for (let index = 0; index < backends; index += 1) emit.sample(weight, { farm, backend: `${index}` }, 1);
    },
  });
  const shown = (page: readonly string[]) =>
    page.map((line) => line.replace(/^zlb_(\w+)\{.*farm="(\w+)".*/, '$2 $1')).sort();

  it('leave a fifth of it to other metrics, and are left out by whole families', async () => {
    const { readingStore, page, told } = given({ maxSeries: 10 });

    readingStore.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 5));

    expect(shown(await page())).toEqual([
      'shop backend',
      'shop backend',
      'shop backend',
      'shop backend',
      'shop backend',
      'shop sessions',
    ]);
    expect(told).toEqual(['5 dropped: limit']);
  });

  it('are those of the same farms in any order of reads', async () => {
    const farms = ['blog', 'db', 'shop', 'wiki'];
    const orders = [farms, farms.toReversed(), ['shop', 'blog', 'wiki', 'db', 'shop', 'db']];
    const pages = await Promise.all(
      orders.map(async (order) => {
        const { readingStore, page } = given({ maxSeries: 15 });
        for (const farm of order)
          readingStore.put({ collector: 'backends', farm }, farmWith(farm, farm === 'db' ? 5 : 3));
        return shown(await page());
      }),
    );

    expect(new Set(pages[0]).size).toBeGreaterThan(4);
    expect(pages[0]).toContain('blog weight');
    expect(pages[0]).toContain('db backend');
    expect(pages[0]).not.toContain('shop weight');
    expect(pages[1]).toEqual(pages[0]);
    expect(pages[2]).toEqual(pages[0]);
  });

  it('are evicted for other metrics, are counted, and return with the next reading', async () => {
    const { readingStore, page, told } = given({ maxSeries: 10 });
    readingStore.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 4));
    const before = shown(await page());

    readingStore.put(
      { collector: 'farms' },
      { ...freshUntil(1_000), write: (emit) => ['a', 'b'].forEach((farm) => emit.state(farmState, { farm }, 'up')) },
    );
    const limited = shown(await page());
    readingStore.remove({ collector: 'farms' });
    readingStore.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 4));

    expect(before).toHaveLength(9);
    expect(limited).toEqual(['a state', 'a state', 'a state', 'b state', 'b state', 'b state', 'shop sessions']);
    expect(told).toEqual(['8 dropped: limit']);
    expect(shown(await page())).toEqual(before);
  });
});

describe('the readings for people', () => {
  const farm = { collector: 'backends', farm: 'shop' };
  const data = (readingStore: ReadingStore) => [...readingStore.all.values()].map((each) => each.data);
  const stale = (readingStore: ReadingStore) => [...readingStore.staleCollectors];
  /** So many series of single backends. */
  const details = (count: number) => (emit: Emit) => {
    for (let index = 0; index < count; index += 1) emit.sample(backend, { farm: 'shop', backend: String(index) }, 1);
  };

  it('are removed when they are stale or removed', () => {
    const { readingStore } = given();
    const put = () => readingStore.put(farm, { ...reading('shop', 1), data: 'first' });
    put();
    expect([data(readingStore), stale(readingStore)]).toEqual([['first'], []]);

    readingStore.expire(1_000);
    expect([data(readingStore), stale(readingStore)], 'evicted').toEqual([[], ['backends']]);

    put();
    expect([data(readingStore), stale(readingStore)]).toEqual([['first'], []]);
    readingStore.expire(1_000);
    readingStore.remove(farm);
    expect([data(readingStore), stale(readingStore)]).toEqual([[], []]);
  });

  it('stay complete above the series limit, with the number of series that /metrics leaves out', async () => {
    const { readingStore, page } = given({ maxSeries: 10 });

    readingStore.put(farm, { ...freshUntil(1_000), data: 'backends', write: details(9) });

    expect(await page()).toEqual([]);
    expect(data(readingStore)).toEqual(['backends']);
    expect([...readingStore.all.values()].map(({ leftOut }) => leftOut)).toEqual([9]);
  });
});
