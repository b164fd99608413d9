import { describe, expect, it } from 'vitest';
import { createBreaker } from '../../../src/appliance/breaker.ts';
import { gauge } from '../../../src/metrics/family.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { createCounters } from '../../../src/poller/counters.ts';
import { Exposition, type ExpositionParts } from '../../../src/poller/exposition.ts';
import { createCollectorStatistics, ownFamilies } from '../../../src/poller/collector-statistics.ts';
import { ReadingStore } from '../../../src/poller/reading-store.ts';
import { valueOf } from '../../support/samples.ts';
import { textOf } from '../../support/store-text.ts';

describe("the exporter's own numbers", () => {
  it('are rendered once for many changes, and never without a change', async () => {
    const { exposition, counters, expire, renderings } = given();
    await expire();
    const before = renderings();

    for (let time = 0; time < 50; time += 1) {
      counters.failed('farms', 'timeout');
      exposition.invalidate();
    }
    const meanwhile = renderings();
    const page = await expire();
    await expire();

    expect(meanwhile).toBe(before);
    expect(renderings()).toBe(before + 1);
    expect(valueOf(page, 'zlb_collector_errors_total', { collector: 'farms', reason: 'timeout' })).toBe(50);
  });

  it('do not count as series of the appliance, nor do those of the previous exposition', async () => {
    const { counters, expire, exposition, readingStore, replaced } = given();
    readingStore.put({ collector: 'farms' }, { write: (emit) => emit.sample(sessions, {}, 1), ...freshFor(10_000) });
    counters.called(answered);
    exposition.invalidate();

    expect(valueOf(await expire(), 'zlb_exporter_series')).toBe(1);
    expect(valueOf(await replaced(), 'zlb_exporter_series')).toBe(1);
  });

  it('go down when an answer no longer counts, without a new reading', async () => {
    const { statistics, expire, clock } = given();
    statistics.called(answered, clock.ms);
    const up = valueOf(await expire(), 'zlb_up');
    clock.ms += 999;
    const stillUp = valueOf(await expire(), 'zlb_up');
    clock.ms += 1;

    expect([up, stillUp, valueOf(await expire(), 'zlb_up')]).toEqual([1, 1, 0]);
  });

  it('never show a fresh reading next to an appliance that is down', async () => {
    const { statistics, readingStore, exposition, expire, clock, page } = given();
    statistics.called(answered, clock.ms);
    clock.ms += 5_000;
    const down = valueOf(await expire(), 'zlb_up');

    statistics.called(answered, clock.ms);
    readingStore.put(
      { collector: 'farms' },
      { write: (emit) => emit.sample(sessions, {}, 1), ...freshFor(clock.ms + 100) },
    );
    exposition.refresh();
    const text = await page();

    expect([down, valueOf(text, 'zlb_up'), valueOf(text, 'zlb_sessions')]).toEqual([0, 1, 1]);
  });

  it('are refreshed when a reading is removed for its age', async () => {
    const { statistics, readingStore, expire, clock } = given();
    statistics.called(answered, clock.ms);
    readingStore.put({ collector: 'farms' }, { write: (emit) => emit.sample(sessions, {}, 1), ...freshFor(500) });
    const before = await expire();
    clock.ms = 500;
    const after = await expire();

    expect([before, after].map((text) => valueOf(text, 'zlb_sessions'))).toEqual([1, undefined]);
    expect([before, after].map((text) => valueOf(text, 'zlb_exporter_series'))).toEqual([1, 0]);
  });
});

const sessions = gauge('zlb_sessions', 'A number (a test).');

const freshFor = (maxStaleMs: number) => ({
  data: undefined,
  sinceMs: undefined,
  takenAtMs: 0,
  maxStaleMs,
  extendedMs: 0,
});

const answered = {
  method: 'GET',
  endpoint: '/stats',
  code: '200',
  reason: undefined,
  seconds: 0.1,
  authenticated: true,
  clockOffsetSeconds: 0,
};

/** A statistics for which an answer counts for a second. */
function given() {
  const clock = { ms: 0 };
  let renderings = 0;
  const store = createMetricsStore([...ownFamilies, sessions]);
  store.arrange(['lb']);
  const counters = createCounters('lb');
  const statistics = createCollectorStatistics({
    collectors: ['farms'],
    counters,
    upForMs: () => 1_000,
    isAnswering: () => true,
  });
  const readingStore = new ReadingStore({
    appliance: 'lb',
    stored: new Map(),
    evicted: new Map(),
    store,
    maxSeries: 1_000,
    priority: () => 0,
    isExtended: () => false,
    onDropped: () => undefined,
    onUnknownState: () => undefined,
  });
  const parts: ExpositionParts = {
    name: 'lb',
    jobs: new Map(),
    store,
    statistics: {
      ...statistics,
      numbers(...parts) {
        renderings += 1;
        return statistics.numbers(...parts);
      },
    },
    counters,
    readings: readingStore,
    breaker: createBreaker({ now: () => clock.ms, random: () => 0 }),
    state: { age: () => clock.ms },
  };
  const exposition = new Exposition(parts);
  const page = () => textOf(store);
  return {
    exposition,
    statistics,
    counters,
    readingStore,
    clock,
    page,
    renderings: () => renderings,
    /** The page, once another exposition has taken the place of this one. */
    async replaced() {
      const other = new Exposition(parts);
      other.invalidate();
      other.expire();
      return await page();
    },
    /** The page as of now. */
    async expire() {
      exposition.expire();
      return await page();
    },
  };
}
