import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Collector } from '../../../src/collectors/collector.ts';
import { type Emit, gauge, stateSet } from '../../../src/metrics/family.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { ReadingPublisher } from '../../../src/scheduler/reading-publisher.ts';
import { ApplianceState } from '../../../src/state/appliance-state.ts';
import type { Origin } from '../../../src/state/reading.ts';
import { textOf } from '../../support/store-text.ts';

const farmState = stateSet('zlb_state', 'A state.', ['farm'], ['up', 'down', 'unknown']);
const sessions = gauge('zlb_sessions', 'A number.', ['farm']);
const backend = { ...gauge('zlb_backend', 'A small thing.', ['farm', 'backend']), isDetail: true };
const weight = { ...gauge('zlb_weight', 'What it weighs.', ['farm', 'backend']), isDetail: true };

interface Given {
  readonly known: ReturnType<typeof knownBy>;
  readonly page: () => Promise<string[]>;
  readonly counted: string[];
  readonly logged: string[];
  /** The same for the next settings, as a reload makes it. */
  readonly successor: () => Given;
}

interface Written {
  readonly write: (emit: Emit) => void;
}

/** A collector whose data says itself how it is written. */
const collectorNamed = (name: string): Collector => ({
  name,
  schedule: '* * * * * *',
  maxStaleMs: 0,
  enabled: true,
  refreshedBy: [],
  families: [{ family: sessions, write: (emit, data) => (data as Written).write(emit) }],
  covers: () => true,
  begin: () => Promise.reject(new Error('never begun')),
});
const jobs = new Map(
  ['farms', 'backends', 'db', 'shop'].map((name, rank) => [
    name,
    { collector: collectorNamed(name), rank, maxStaleMs: 1_000 },
  ]),
);

function given({
  maxSeries = 100,
  maxBytes = 100_000,
  store = createMetricsStore([farmState, sessions, backend, weight]),
  before = undefined as ApplianceState | undefined,
} = {}): Given {
  if (!vi.isFakeTimers()) vi.useFakeTimers({ now: 0 });
  const logged: string[] = [];
  store.arrange(['lb']);
  const counted: string[] = [];
  const text = new ReadingPublisher({
    name: 'lb',
    jobs,
    store,
    maxSeries,
    compact: false,
    counters: { countDropped: (reason, series) => counted.push(`${series} dropped: ${reason}`) },
    readingLog: {
      logDropped: (reason, series) => logged.push(`${series} dropped: ${reason}`),
      logUnknownState: (family, word) => logged.push(`${family}: ${word}`),
    },
  });
  const state = new ApplianceState({
    appliance: 'lb',
    collectors: jobs,
    watches: () => true,
    maxBytes,
    listeners: [text],
    now: Date.now,
    before,
  });
  const page = async () => (await textOf(store)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return {
    known: knownBy(state, text),
    page,
    counted,
    logged,
    successor: () => given({ maxSeries, store, before: state }),
  };
}

function knownBy(state: ApplianceState, text: ReadingPublisher) {
  return {
    put(
      { collector: name, farm }: Origin,
      reading: Written & { readonly maxStaleMs?: number; readonly data?: unknown },
    ) {
      const { collector } = jobs.get(name)!;
      const { maxStaleMs = 1_000 } = reading;
      state.put({ collector, farm, data: reading, askedAtElapsedMs: 0, maxStaleMs, lifeMs: maxStaleMs, isWhole: true });
    },
    /** Removes what is too old at that moment, and returns its collectors. */
    expire(elapsedMs: number) {
      vi.advanceTimersByTime(elapsedMs - state.elapsedNow());
      return state.expire(({ maxStaleMs }) => maxStaleMs).map(({ collector }) => collector);
    },
    remove: (origin: Origin) => text.onRemoved(origin, 'gone'),
    get data() {
      return [...state.snapshot().values()].map(({ data }) => (data as { readonly data?: unknown }).data);
    },
    get lastKnown() {
      return [...state.lastKnown.keys()];
    },
    get stale() {
      return [...state.staleCollectors];
    },
  };
}

afterEach(() => void vi.useRealTimers());

/** A reading of one sample that may be shown until then. */
const reading = (farm: string, value: number, freshUntilMs = 1_000) => ({
  maxStaleMs: freshUntilMs,
  write: (emit: Emit) => emit.sample(sessions, { farm }, value),
});

/** A reading of three series of a state, and one of a number. */
const stateAndNumber = (farm: string) => ({
  write(emit: Emit) {
    emit.state(farmState, { farm }, 'up');
    emit.sample(sessions, { farm }, 2);
  },
});

describe('the reading publisher', () => {
  it('refuses a reading that is too long beside the others, and accepts a newer one of its origin', () => {
    const { known } = given({ maxBytes: 1_000 });
    const long = { ...reading('shop', 1), data: 'x'.repeat(600) };
    const put = (farm: string) => known.put({ collector: 'backends', farm }, long);
    put('shop');

    expect(() => put('shop')).not.toThrow();
    expect(() => put('db')).toThrow(
      expect.objectContaining({
        reason: 'oversize',
        message: expect.stringContaining('more than 1000 bytes, 4 times limits.body_bytes'),
      }),
    );
    known.expire(1_000);
    expect(known.lastKnown).toEqual(['backends\nshop']);
    expect(() => put('db')).not.toThrow();
    expect(known.lastKnown, 'it makes room').toEqual([]);
  });

  it('evicts a reading exactly when it is stale, and reports its origin', async () => {
    const { known, page } = given();
    known.put({ collector: 'farms' }, reading('shop', 1, 1_000));
    known.put({ collector: 'backends', farm: 'db' }, reading('db', 2, 2_000));

    const early = known.expire(999);
    const before = await page();
    const first = known.expire(1_000);
    const between = await page();
    const second = known.expire(5_000);

    expect([early, first, second]).toEqual([[], ['farms'], ['backends']]);
    expect(before).toHaveLength(2);
    expect(between).toEqual(['zlb_sessions{appliance="lb",farm="db"} 2']);
    expect(await page()).toEqual([]);
    expect(known.data).toEqual([]);
  });

  it('keeps a reading that was refreshed in time, and counts it once', async () => {
    const { known, page, counted } = given({ maxSeries: 1 });
    known.put({ collector: 'farms' }, reading('shop', 1, 1_000));
    known.put({ collector: 'farms' }, reading('shop', 2, 2_000));

    expect(known.expire(1_500)).toEqual([]);
    expect(await page()).toEqual(['zlb_sessions{appliance="lb",farm="shop"} 2']);
    expect(counted).toEqual([]);
  });

  it('drops a family that does not fit, counts it, and restores it when there is room', async () => {
    const { known, page, counted } = given({ maxSeries: 4 });
    known.put({ collector: 'farms' }, reading('shop', 1));

    known.put({ collector: 'backends', farm: 'db' }, stateAndNumber('db'));
    const limited = await page();
    known.remove({ collector: 'farms' });
    known.put({ collector: 'backends', farm: 'db' }, stateAndNumber('db'));

    expect(limited.filter((line) => line.startsWith('zlb_state'))).toHaveLength(3);
    expect(limited).not.toContain('zlb_sessions{appliance="lb",farm="db"} 2');
    expect(counted).toEqual(['1 dropped: limit']);
    expect(await page()).toContain('zlb_sessions{appliance="lb",farm="db"} 2');
  });

  it('counts inherited series, as after a reload', async () => {
    const before = given({ maxSeries: 4 });
    before.known.put({ collector: 'farms' }, reading('shop', 1));
    const { known, page, counted } = before.successor();

    known.put({ collector: 'backends', farm: 'db' }, stateAndNumber('db'));

    expect(counted).toEqual(['1 dropped: limit']);
    expect(await page()).toHaveLength(4);
  });

  it('gives room to a collector with priority, in any order of reads', async () => {
    const orders = [
      ['farms', 'backends'],
      ['backends', 'farms'],
    ];

    const pages = await Promise.all(
      orders.map(async (order) => {
        const { known, page, counted } = given({ maxSeries: 5 });
        for (const collector of order) known.put({ collector }, stateAndNumber(collector));
        expect(counted).toEqual(['3 dropped: limit']);
        return (await page()).toSorted();
      }),
    );

    expect(pages[0]?.filter((line) => line.includes('farm="farms"'))).toHaveLength(4);
    expect(pages[0]).toContain('zlb_sessions{appliance="lb",farm="backends"} 2');
    expect(pages[1]).toEqual(pages[0]);
  });

  it('counts duplicate series, and reports unknown words', async () => {
    const { known, page, counted, logged } = given();

    known.put(
      { collector: 'farms' },
      {
        write(emit) {
          emit.sample(sessions, { farm: 'shop' }, 1);
          emit.sample(sessions, { farm: 'shop' }, 2);
          emit.state(farmState, { farm: 'shop' }, 'dancing');
        },
      },
    );

    expect(await page()).toContain('zlb_sessions{appliance="lb",farm="shop"} 1');
    expect(await page()).toContain('zlb_state{appliance="lb",farm="shop",status="unknown"} 1');
    expect(counted).toEqual(['1 dropped: duplicate']);
    expect(logged).toEqual([...counted, 'zlb_state: dancing']);
  });
});

describe('details at the series limit', () => {
  /** A reading of one number for the farm and two for each of its backends. */
  const farmWith = (farm: string, backends: number) => ({
    write(emit: Emit) {
      emit.sample(sessions, { farm }, backends);
      for (let index = 0; index < backends; index += 1) emit.sample(backend, { farm, backend: `${index}` }, 1);
      for (let index = 0; index < backends; index += 1) emit.sample(weight, { farm, backend: `${index}` }, 1);
    },
  });
  const shown = (page: readonly string[]) =>
    page.map((line) => line.replace(/^zlb_(\w+)\{.*farm="(\w+)".*/, '$2 $1')).sort();

  it('leave a fifth of it to other metrics, and are dropped by whole families', async () => {
    const { known, page, counted } = given({ maxSeries: 10 });

    known.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 5));

    expect(shown(await page())).toEqual([
      'shop backend',
      'shop backend',
      'shop backend',
      'shop backend',
      'shop backend',
      'shop sessions',
    ]);
    expect(counted).toEqual(['5 dropped: limit']);
  });

  it('are those of the same farms in any order of reads', async () => {
    const farms = ['blog', 'db', 'shop', 'wiki'];
    const orders = [farms, farms.toReversed(), ['shop', 'blog', 'wiki', 'db', 'shop', 'db']];
    const pages = await Promise.all(
      orders.map(async (order) => {
        const { known, page } = given({ maxSeries: 15 });
        for (const farm of order) known.put({ collector: 'backends', farm }, farmWith(farm, farm === 'db' ? 5 : 3));
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
    const { known, page, counted } = given({ maxSeries: 10 });
    known.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 4));
    const before = shown(await page());

    known.put(
      { collector: 'farms' },
      { write: (emit) => ['a', 'b'].forEach((farm) => emit.state(farmState, { farm }, 'up')) },
    );
    const limited = shown(await page());
    known.remove({ collector: 'farms' });
    known.put({ collector: 'backends', farm: 'shop' }, farmWith('shop', 4));

    expect(before).toHaveLength(9);
    expect(limited).toEqual(['a state', 'a state', 'a state', 'b state', 'b state', 'b state', 'shop sessions']);
    expect(counted).toEqual(['8 dropped: limit']);
    expect(shown(await page())).toEqual(before);
  });
});

describe('the readings for the status page', () => {
  const farm = { collector: 'backends', farm: 'shop' };
  /** So many series of single backends. */
  const details = (count: number) => (emit: Emit) => {
    for (let index = 0; index < count; index += 1) emit.sample(backend, { farm: 'shop', backend: String(index) }, 1);
  };

  it('stay complete above the series limit, with the number of series that /metrics drops', async () => {
    const store = createMetricsStore([backend]);
    const { known, page } = given({ maxSeries: 10, store });

    known.put(farm, { data: 'backends', write: details(9) });

    expect(await page()).toEqual([]);
    expect(known.data).toEqual(['backends']);
    expect(store.series('lb')).toEqual({ shown: 0, leftOut: 9 });
  });
});
