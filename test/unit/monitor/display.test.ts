import { describe, expect, it } from 'vitest';
import { gauge } from '../../../src/metrics/family.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { createCounters } from '../../../src/monitor/counters.ts';
import { createDisplay } from '../../../src/monitor/display.ts';
import { createLedger, ledgerFamilies } from '../../../src/monitor/ledger.ts';
import { createShelf } from '../../../src/monitor/shelf.ts';
import { valueOf } from '../../support/samples.ts';
import { textOf } from '../../support/store-text.ts';

describe("the exporter's own numbers", () => {
  it('are rendered once for all that happened, and not at all when nothing did', async () => {
    const { display, counters, expire, renderings } = given();
    await expire();
    const before = renderings();

    for (let time = 0; time < 50; time += 1) {
      counters.failed('farms', 'timeout');
      display.publish();
    }
    const meanwhile = renderings();
    const page = await expire();
    await expire();

    expect(meanwhile).toBe(before);
    expect(renderings()).toBe(before + 1);
    expect(valueOf(page, 'zlb_collector_errors_total', { collector: 'farms', reason: 'timeout' })).toBe(50);
  });

  it('do not count among the series of the appliance, nor do those of the display before', async () => {
    const { counters, expire, display, shelf, replaced } = given();
    shelf.put({ collector: 'farms' }, { write: (emit) => emit.sample(sessions, {}, 1), ...freshFor(10_000) });
    counters.called(answered);
    display.publish();

    expect(valueOf(await expire(), 'zlb_exporter_series')).toBe(1);
    expect(valueOf(await replaced(), 'zlb_exporter_series')).toBe(1);
  });

  it('go down at the moment after which an answer no longer counts, though nothing is published', async () => {
    const { ledger, expire, clock } = given();
    ledger.called(answered, clock.ms);
    const up = valueOf(await expire(), 'zlb_up');
    clock.ms += 999;
    const stillUp = valueOf(await expire(), 'zlb_up');
    clock.ms += 1;

    expect([up, stillUp, valueOf(await expire(), 'zlb_up')]).toEqual([1, 1, 0]);
  });

  it('stay up as long as answers come, and are up again with the first of them, though nothing is published', async () => {
    const { ledger, expire, clock } = given();
    ledger.called(answered, clock.ms);
    await expire();
    clock.ms += 900;
    ledger.called(answered, clock.ms);
    clock.ms += 900;
    const kept = valueOf(await expire(), 'zlb_up');
    clock.ms += 900;
    const down = valueOf(await expire(), 'zlb_up');
    ledger.called(answered, clock.ms);

    expect([kept, down, valueOf(await expire(), 'zlb_up')]).toEqual([1, 0, 1]);
  });

  it('never show a fresh reading next to an appliance that is down', async () => {
    const { ledger, shelf, display, expire, clock, page } = given();
    ledger.called(answered, clock.ms);
    clock.ms += 5_000;
    const down = valueOf(await expire(), 'zlb_up');

    ledger.called(answered, clock.ms);
    shelf.put({ collector: 'farms' }, { write: (emit) => emit.sample(sessions, {}, 1), ...freshFor(clock.ms + 100) });
    display.refresh();
    const text = await page();

    expect([down, valueOf(text, 'zlb_up'), valueOf(text, 'zlb_sessions')]).toEqual([0, 1, 1]);
  });

  it('are refreshed when a reading is removed for its age', async () => {
    const { ledger, shelf, expire, clock } = given();
    ledger.called(answered, clock.ms);
    shelf.put({ collector: 'farms' }, { write: (emit) => emit.sample(sessions, {}, 1), ...freshFor(500) });
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
  promisedMs: 0,
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

/** A ledger for which an answer counts for a second. */
function given() {
  const clock = { ms: 0 };
  let renderings = 0;
  const store = createMetricsStore([...ledgerFamilies, sessions]);
  store.arrange(['lb']);
  const counters = createCounters('lb');
  const ledger = createLedger({ collectors: ['farms'], counters, upForMs: () => 1_000 });
  const shelf = createShelf({
    appliance: 'lb',
    held: new Map(),
    store,
    maxSeries: 1_000,
    precedence: () => 0,
    outlives: () => false,
    onDropped: () => undefined,
    onUnknownState: () => undefined,
  });
  const parts: Parameters<typeof createDisplay>[0] = {
    appliance: 'lb',
    store,
    ledger: {
      ...ledger,
      expose(...parts) {
        renderings += 1;
        ledger.expose(...parts);
      },
    },
    counters,
    shelf,
    breakerState: () => 'closed',
    age: () => clock.ms,
  };
  const display = createDisplay(parts);
  const page = () => textOf(store);
  return {
    display,
    ledger,
    counters,
    shelf,
    clock,
    page,
    renderings: () => renderings,
    /** The page, once another display has taken the place of this one. */
    async replaced() {
      const other = createDisplay(parts);
      other.publish();
      other.expire(new Map());
      return await page();
    },
    /** The page as of now. */
    async expire() {
      display.expire(new Map());
      return await page();
    },
  };
}
