import { describe, expect, it } from 'vitest';
import { detail, gauge, stateSet } from '../../../src/metrics/family.ts';
import type { Emit } from '../../../src/metrics/samples.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { createShelf, type Held, type Shelf } from '../../../src/monitor/shelf.ts';
import { textOf } from '../../support/store-text.ts';

const farmState = stateSet('zlb_state', 'A state.', ['farm'], ['up', 'down', 'unknown']);
const sessions = gauge('zlb_sessions', 'A number.', ['farm']);
const backend = detail(gauge('zlb_backend', 'A small thing.', ['farm', 'backend']));
const weight = detail(gauge('zlb_weight', 'What it weighs.', ['farm', 'backend']));

interface Given {
  readonly shelf: Shelf;
  readonly page: () => Promise<string[]>;
  readonly told: string[];
  /** Another shelf for the same readings, as a reload makes it. */
  readonly successor: () => Given;
}

function given({
  maxSeries = 100,
  held = new Map() as Held,
  store = createMetricsStore([farmState, sessions, backend, weight]),
} = {}): Given {
  const told: string[] = [];
  store.arrange(['lb']);
  const shelf = createShelf({
    appliance: 'lb',
    held,
    store,
    maxSeries,
    precedence: (collector) => ['farms', 'backends'].indexOf(collector),
    outlives: () => false,
    onDropped: (reason, series) => told.push(`${series} dropped: ${reason}`),
    onUnknownState: (family, word) => told.push(`${family}: ${word}`),
  });
  const page = async () => (await textOf(store)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { shelf, page, told, successor: () => given({ maxSeries, held: new Map(held), store }) };
}

const nothingSaid = { data: undefined, sinceMs: undefined };
const freshUntil = (ageMs: number) => ({ ...nothingSaid, takenAtMs: 0, maxStaleMs: ageMs, promisedMs: ageMs });

/** A reading of one sample that may be shown until then. */
const reading = (farm: string, value: number, freshUntilMs = 1_000) => ({
  ...freshUntil(freshUntilMs),
  write: (emit: Emit) => emit.sample(sessions, { farm }, value),
});

describe('the shelf', () => {
  it('shows the newest reading of each origin', async () => {
    const { shelf, page } = given();

    shelf.put({ collector: 'backends', farm: 'shop' }, reading('shop', 1));
    shelf.put({ collector: 'backends', farm: 'db' }, reading('db', 2));
    shelf.put({ collector: 'backends', farm: 'shop' }, reading('shop', 3));

    expect(await page()).toEqual([
      'zlb_sessions{appliance="lb",farm="shop"} 3',
      'zlb_sessions{appliance="lb",farm="db"} 2',
    ]);
  });

  it('drops what a newer reading of the same origin no longer has', async () => {
    const { shelf, page } = given();

    shelf.put({ collector: 'backends' }, reading('shop', 1));
    shelf.put({ collector: 'backends' }, { ...freshUntil(1_000), write: () => undefined });

    expect(await page()).toEqual([]);
    expect(shelf.has('backends')).toBe(true);
  });

  it('withholds a reading at the moment it is too old and not before, and says whose it was', async () => {
    const { shelf, page } = given();
    shelf.put({ collector: 'farms' }, reading('shop', 1, 1_000));
    shelf.put({ collector: 'backends', farm: 'db' }, reading('db', 2, 2_000));

    const early = shelf.expire(999);
    const before = await page();
    const first = shelf.expire(1_000);
    const between = await page();
    const second = shelf.expire(5_000);

    expect([early, first, second].map((losers) => [...losers])).toEqual([[], ['farms'], ['backends']]);
    expect(before).toHaveLength(2);
    expect(between).toEqual(['zlb_sessions{appliance="lb",farm="db"} 2']);
    expect(await page()).toEqual([]);
    expect(shelf.has('farms')).toBe(false);
  });

  it('keeps a reading that was renewed in time', async () => {
    const { shelf, page } = given();
    shelf.put({ collector: 'farms' }, reading('shop', 1, 1_000));
    shelf.put({ collector: 'farms' }, reading('shop', 2, 2_000));

    expect([...shelf.expire(1_500)]).toEqual([]);
    expect(await page()).toEqual(['zlb_sessions{appliance="lb",farm="shop"} 2']);
  });

  it('removes one origin and leaves the others', async () => {
    const { shelf, page } = given();
    shelf.put({ collector: 'backends', farm: 'shop' }, reading('shop', 1));
    shelf.put({ collector: 'backends', farm: 'db' }, reading('db', 2));

    shelf.remove({ collector: 'backends', farm: 'shop' });
    shelf.remove({ collector: 'backends', farm: 'never seen' });

    expect(await page()).toEqual(['zlb_sessions{appliance="lb",farm="db"} 2']);
  });

  it('leaves out a family that does not fit beside what others hold, counts it, and takes it back once there is room', async () => {
    const { shelf, page, told } = given({ maxSeries: 4 });
    const both = {
      ...freshUntil(1_000),
      write: (emit: Emit) => {
        emit.state(farmState, { farm: 'db' }, 'up');
        emit.sample(sessions, { farm: 'db' }, 2);
      },
    };
    shelf.put({ collector: 'farms' }, reading('shop', 1));

    shelf.put({ collector: 'backends', farm: 'db' }, both);
    const crowded = await page();
    shelf.remove({ collector: 'farms' });
    shelf.put({ collector: 'backends', farm: 'db' }, both);

    expect(crowded.filter((line) => line.startsWith('zlb_state'))).toHaveLength(3);
    expect(crowded).not.toContain('zlb_sessions{appliance="lb",farm="db"} 2');
    expect(told).toEqual(['1 dropped: limit']);
    expect(await page()).toContain('zlb_sessions{appliance="lb",farm="db"} 2');
  });

  it('counts what was there before it, as after a reload', async () => {
    const before = given({ maxSeries: 4 });
    before.shelf.put({ collector: 'farms' }, reading('shop', 1));
    const { shelf, page, told } = before.successor();

    shelf.put(
      { collector: 'backends', farm: 'db' },
      {
        ...freshUntil(1_000),
        write(emit) {
          emit.state(farmState, { farm: 'db' }, 'up');
          emit.sample(sessions, { farm: 'db' }, 2);
        },
      },
    );

    expect(told).toEqual(['1 dropped: limit']);
    expect(await page()).toHaveLength(4);
  });

  it('takes back what is no detail either for a collector that comes first, in whatever order they are read', async () => {
    const stateOf = (farm: string) => ({
      ...freshUntil(1_000),
      write(emit: Emit) {
        emit.state(farmState, { farm }, 'up');
        emit.sample(sessions, { farm }, 1);
      },
    });
    const orders = [
      ['farms', 'backends'],
      ['backends', 'farms'],
    ];

    const pages = await Promise.all(
      orders.map(async (order) => {
        const { shelf, page, told } = given({ maxSeries: 5 });
        for (const collector of order) shelf.put({ collector }, stateOf(collector));
        expect(told).toEqual(['3 dropped: limit']);
        return (await page()).toSorted();
      }),
    );

    expect(pages[0]?.filter((line) => line.includes('farm="farms"'))).toHaveLength(4);
    expect(pages[0]).toContain('zlb_sessions{appliance="lb",farm="backends"} 1');
    expect(pages[1]).toEqual(pages[0]);
  });

  it('does not count a reading against itself when it is renewed', async () => {
    const { shelf, page, told } = given({ maxSeries: 1 });

    shelf.put({ collector: 'farms' }, reading('shop', 1));
    shelf.put({ collector: 'farms' }, reading('shop', 2));

    expect(await page()).toEqual(['zlb_sessions{appliance="lb",farm="shop"} 2']);
    expect(told).toEqual([]);
  });

  it('counts series that are named twice, and passes on words that nobody knows', async () => {
    const { shelf, page, told } = given();

    shelf.put(
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

  it('leave a fifth of it to what is not detail, and are left out by whole families', async () => {
    const { shelf, page, told } = given({ maxSeries: 10 });

    shelf.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 5));

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

  it('are those of the same farms in whatever order these are read', async () => {
    const farms = ['blog', 'db', 'shop', 'wiki'];
    const orders = [farms, farms.toReversed(), ['shop', 'blog', 'wiki', 'db', 'shop', 'db']];
    const pages = await Promise.all(
      orders.map(async (order) => {
        const { shelf, page } = given({ maxSeries: 15 });
        for (const farm of order) shelf.put({ collector: 'backends', farm }, farmWith(farm, farm === 'db' ? 5 : 3));
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

  it('give way to what is not detail, are counted when they do, and come back with the next reading', async () => {
    const { shelf, page, told } = given({ maxSeries: 10 });
    shelf.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 4));
    const before = shown(await page());

    shelf.put(
      { collector: 'farms' },
      { ...freshUntil(1_000), write: (emit) => ['a', 'b'].forEach((farm) => emit.state(farmState, { farm }, 'up')) },
    );
    const crowded = shown(await page());
    shelf.remove({ collector: 'farms' });
    shelf.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 4));

    expect(before).toHaveLength(9);
    expect(crowded).toEqual(['a state', 'a state', 'a state', 'b state', 'b state', 'b state', 'shop sessions']);
    expect(told).toEqual(['8 dropped: limit']);
    expect(shown(await page())).toEqual(before);
  });
});

describe('the readings for people', () => {
  const farm = { collector: 'backends', farm: 'shop' };
  const data = (shelf: Shelf, ageMs = 0) => [...shelf.at(ageMs).readings.values()].map((each) => each.data);
  const stale = (shelf: Shelf, ageMs = 0) => [...shelf.at(ageMs).stale];
  /** So many series of single backends. */
  const details = (count: number) => (emit: Emit) => {
    for (let index = 0; index < count; index += 1) emit.sample(backend, { farm: 'shop', backend: String(index) }, 1);
  };

  it('go when they are stale, evicted or not, removed or cleared', () => {
    const { shelf } = given();
    const put = () => shelf.put(farm, { ...reading('shop', 1), data: 'first' });
    put();
    expect([data(shelf, 999), stale(shelf, 999)]).toEqual([['first'], []]);
    expect([data(shelf, 1_000), stale(shelf, 1_000)], 'not evicted yet').toEqual([[], ['backends']]);

    shelf.expire(1_000);
    expect([data(shelf), stale(shelf)], 'evicted').toEqual([[], ['backends']]);

    put();
    expect([data(shelf), stale(shelf)]).toEqual([['first'], []]);
    shelf.expire(1_000);
    shelf.remove(farm);
    expect([data(shelf), stale(shelf)]).toEqual([[], []]);
    put();
    shelf.expire(1_000);
    shelf.clear('backends');
    expect(stale(shelf)).toEqual([]);
  });

  it('stay above the series limit, with the number of series that /metrics leaves out', async () => {
    const { shelf, page } = given({ maxSeries: 10 });

    shelf.put(farm, { ...freshUntil(1_000), data: 'backends', write: details(9) });

    expect(await page()).toEqual([]);
    expect(data(shelf)).toEqual(['backends']);
    expect(shelf.at(0).leftOut).toBe(9);
  });

  it('say until when none of them can be stale', () => {
    const { shelf } = given();
    shelf.put(farm, reading('shop', 1, 500));
    shelf.put({ collector: 'farms' }, reading('db', 1, 300));

    expect(shelf.at(0).untilMs).toBe(300);
    expect(shelf.at(400).untilMs).toBe(500);
  });
});
