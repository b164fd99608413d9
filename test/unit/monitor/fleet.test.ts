import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createExposition } from '../../../src/metrics/exposition.ts';
import type { Page, Representation } from '../../../src/metrics/page.ts';
import { createCounters } from '../../../src/monitor/counters.ts';
import { createFleet, type FleetParts } from '../../../src/monitor/fleet.ts';
import type { Monitor, MonitoredAppliance } from '../../../src/monitor/monitor.ts';
import type { ApplianceStatus, RecentTransition } from '../../../src/monitor/status.ts';
import { applianceStatus } from '../../support/appliance-status.ts';
import { until } from '../../support/until.ts';

const text: Representation = { format: 'text', compressed: true };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a page', () => {
  it('of some brings no others up to its moment, and one of all everyone', async () => {
    const { monitor, settled } = await given(['lb-1', 'lb-2', 'lb-3']);

    monitor.pageOf(new Set(['lb-2']), text);
    const forOne = settled.splice(0);
    await monitor.page(text);

    expect(forOne).toEqual(['lb-2']);
    expect(settled).toEqual(['lb-1', 'lb-2', 'lb-3']);
  });

  it('tells all that happened while it was made, of all and of one', async () => {
    const { monitor, settled, behind } = await given(['lb-1', 'lb-2']);
    behind.add('lb-2');
    await monitor.page(text);
    const ofAll = settled.splice(0);
    monitor.pageOf(new Set(['lb-1']), text);
    behind.add('lb-1');

    monitor.pageOf(new Set(['lb-1']), text);

    expect(ofAll).toEqual(['lb-1', 'lb-2', 'lb-2']);
    expect(settled).toEqual(['lb-1']);
  });

  it('of all is made once for all who ask at a time', async () => {
    const { monitor, settled } = await given(['lb-1', 'lb-2']);

    await Promise.all([text, { ...text, compressed: false }, text].map((form) => monitor.page(form)));

    expect(settled).toEqual(['lb-1', 'lb-2']);
  });

  it('of all is sent though something of it has to go at every moment, and brought up for it', async () => {
    const { monitor, settled } = await given(['lb-1'], { goodForMs: 0 });
    await monitor.page(text);
    settled.length = 0;

    await monitor.page(text);

    expect(settled).toEqual(['lb-1', 'lb-1', 'lb-1']);
  });

  it('of all lets everything else have its turn while it is made for the first time', async () => {
    vi.useRealTimers();
    const names = Array.from({ length: 20 }, (_, index) => `lb-${index}`);
    const { monitor, settled } = await given(names, { settleMs: 2 });
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });

    await monitor.page(text);
    clearImmediate(next);

    expect(settled).toEqual(names);
    expect(turns).toBeGreaterThan(10);
  });
});

describe('a page of one appliance', () => {
  it.each([
    { goodForMs: Number.POSITIVE_INFINITY, settledAgain: 0 },
    { goodForMs: 300, settledAgain: 1 },
  ])('is brought up before it is expected, and good while nothing has to go: $goodForMs ms', async (options) => {
    const { monitor, settled } = await given(['lb-1', 'lb-2'], options);
    monitor.start();
    for (let time = 0; time < 2; time += 1) {
      monitor.pageOf(new Set(['lb-2']), text);
      await vi.advanceTimersByTimeAsync(15_700);
    }
    const before = settled.splice(0);

    monitor.pageOf(new Set(['lb-2']), text);

    expect(new Set(before)).toEqual(new Set(['lb-2']));
    expect(before.length, 'at each of two pages, and before the third').toBeGreaterThan(2);
    expect(before.length).toBeLessThan(6);
    expect(settled).toHaveLength(options.settledAgain);
    await closed(monitor);
  });

  it('is finished before it is expected, and not sent any more after a newer one in another form', async () => {
    const { monitor } = await given(['lb-1', 'lb-2']);
    monitor.start();
    const pageIn = (form: Representation): Page => monitor.pageOf(new Set(['lb-1']), form);
    for (let time = 0; time < 2; time += 1) {
      pageIn(text);
      await vi.advanceTimersByTimeAsync(10_000);
    }

    const [expected, again] = [pageIn(text), pageIn(text)];
    pageIn({ ...text, format: 'openmetrics' });
    const later = pageIn(text);

    expect(again).toBe(expected);
    expect(later).not.toBe(expected);
    await closed(monitor);
  });

  it('is not brought up any more once nobody has asked for minutes', async () => {
    const { monitor, settled, withheld } = await given(['lb-1']);
    monitor.start();
    for (let time = 0; time < 2; time += 1) {
      monitor.pageOf(new Set(['lb-1']), text);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    const whileAsked = settled.length;
    await vi.advanceTimersByTimeAsync(200_000);
    for (const list of [settled, withheld]) list.length = 0;

    await vi.advanceTimersByTimeAsync(10_000);
    await closed(monitor);

    expect(whileAsked).toBeGreaterThan(2);
    expect(settled).toEqual([]);
    expect(withheld.length, 'what is too old is withheld all the same').toBeGreaterThan(5);
  });
});

describe('a machine that was paused', () => {
  it('makes its page anew, though by the steady clock the last one is of this second', async () => {
    const { monitor, settled } = await given(['lb-1']);
    monitor.start();
    await monitor.page(text);
    await vi.advanceTimersByTimeAsync(1_500);
    settled.length = 0;

    await monitor.page(text);
    const before = settled.length;
    vi.setSystemTime(Date.now() + 8 * 3_600_000);
    await monitor.page(text);
    const after = settled.length;
    await closed(monitor);

    expect([before, after]).toEqual([0, 1]);
  });
});

describe('a fleet that was changed', () => {
  it('settles nobody any more whose place was taken, though it was about to', async () => {
    vi.useRealTimers();
    const { monitor, settled } = await given(['lb-1', 'lb-2', 'lb-3'], { settleMs: 10 });
    const page = monitor.page(text);
    expect(settled).toEqual(['lb-1']);

    await monitor.watch([{ name: 'lb-2', labels: { site: 'paris' } }]);
    await until(
      () => settled.length,
      (count) => count >= 2,
    );
    await monitor.close();
    await page;

    expect(settled.slice(0, 2)).toEqual(['lb-1', 'lb-2 of paris']);
  });
});

describe('a page that was made ahead', () => {
  it.each([
    { goodForMs: Number.POSITIVE_INFINITY, settledAgain: 0 },
    { goodForMs: 300, settledAgain: 1 },
  ])('is sent for as long as nothing has to go: $goodForMs ms', async ({ goodForMs, settledAgain }) => {
    const { monitor, settled } = await given(['lb-1'], { goodForMs });
    await monitor.page(text);
    monitor.start();
    await vi.advanceTimersByTimeAsync(10);
    await monitor.page(text);
    const atOnce = settled.length;
    await vi.advanceTimersByTimeAsync(500);
    await monitor.page(text);

    expect(settled.length - atOnce).toBe(settledAgain);
    await closed(monitor);
  });
});

describe('a page that was made at a scrape', () => {
  it('in one format is one in all that are asked for: counters would fall from one to the other', async () => {
    const { monitor, settled } = await given(['lb-1']);
    await monitor.page(text);
    monitor.start();
    await vi.advanceTimersByTimeAsync(10);
    settled.length = 0;

    await monitor.page(text);
    const madeAhead = settled.length;
    await monitor.page({ ...text, format: 'openmetrics' });
    await monitor.page(text);

    expect([madeAhead, settled.length]).toEqual([0, 1]);
    await closed(monitor);
  });
});

describe('the status of a fleet', () => {
  it('is the very same object until something of one appliance differs, or something happens', async () => {
    const { monitor, statuses, tell } = await given(['lb-1', 'lb-2']);
    const first = monitor.describe();
    expect(monitor.describe()).toBe(first);

    statuses.set('lb-2', applianceStatus({ name: 'lb-2', up: true }));
    const second = monitor.describe();
    expect(second).not.toBe(first);
    expect(second.appliances[0]).toBe(first.appliances[0]);
    expect(second.transitions).toBe(first.transitions);

    tell('lb-2');
    expect(monitor.describe()).not.toBe(second);
    expect(monitor.describe().transitions).toMatchObject([{ appliance: 'lb-2' }]);
    expect(monitor.describe()).toBe(monitor.describe());
  });

  it('keeps what happened when an appliance gets other settings, and not of one that is gone', async () => {
    const { monitor, tell } = await given(['lb-1', 'lb-2']);
    tell('lb-1');
    tell('lb-2');

    await monitor.watch([{ name: 'lb-2', labels: { site: 'paris' } }]);
    tell('lb-2');

    expect(monitor.describe().transitions.map(({ appliance }) => appliance)).toEqual(['lb-2', 'lb-2']);
  });
});

describe('a thousand appliances', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `lb-${index}`);

  it('are started one after the other, the first at once, a hundred in a second, and all of them soon', async () => {
    const { monitor, started } = await given(names);

    monitor.start();
    const atOnce = started.length;
    await vi.advanceTimersByTimeAsync(1_000);
    const afterASecond = started.length;
    await vi.advanceTimersByTimeAsync(14_000);
    await closed(monitor);

    expect(atOnce).toBe(1);
    expect(afterASecond).toBeGreaterThan(50);
    expect(afterASecond).toBeLessThan(150);
    expect(started).toEqual(names);
  });

  it('are not started any more once it closes', async () => {
    const { monitor, started } = await given(names);
    monitor.start();
    await vi.advanceTimersByTimeAsync(500);

    await closed(monitor);
    const atClose = started.length;
    await vi.advanceTimersByTimeAsync(10_000);

    expect(started).toHaveLength(atClose);
  });
});

async function closed(monitor: Monitor): Promise<void> {
  const closing = monitor.close();
  await vi.advanceTimersByTimeAsync(0);
  await closing;
}

/** `settleMs`: for so long nothing else has its turn; `goodForMs`: for so long nothing has to go by itself. */
async function given(names: readonly string[], { settleMs = 0, goodForMs = Number.POSITIVE_INFINITY } = {}) {
  const started: string[] = [];
  const settled: string[] = [];
  const withheld: string[] = [];
  /** Something happens to these once it was looked at. */
  const behind = new Set<string>();
  const statuses = new Map<string, ApplianceStatus>();
  const nothingKnown = applianceStatus({ name: 'any' });
  const tellers = new Map<string, (transition: RecentTransition) => void>();
  const settle = (what: string): void => {
    settled.push(what);
    for (const endMs = performance.now() + settleMs; performance.now() < endMs; );
  };
  const createPoller: FleetParts<MonitoredAppliance>['createPoller'] = ({ name, labels }, _, onTransition) => {
    tellers.set(name, onTransition);
    return {
      name,
      publish: () => undefined,
      start: () => void started.push(name),
      withhold: () => void withheld.push(name),
      isCurrent: () => !behind.delete(name),
      settle: () => settle(labels.site === undefined ? name : `${name} of ${labels.site}`),
      goodForMs: () => goodForMs,
      run: () => Promise.resolve(),
      changed: () => Promise.resolve(),
      hadFirstRuns: true,
      describe: () => statuses.get(name) ?? nothingKnown,
      close: () => Promise.resolve(),
      counters: createCounters(),
      legacy: {
        age: () => 0,
        newest: new Map(),
        held: new Map(),
        withheld: new Map(),
        states: new Map(),
        ledger: { entries: new Map(), answeredAtMs: undefined, called: false, offsetSeconds: undefined },
        opensAtMs: 0,
      },
    };
  };
  const monitor = createFleet({
    createPoller,
    isSame: (one, other) => one.labels.site === other.labels.site,
    isSameMachine: () => true,
    exposition: createExposition({ families: [], appliances: [] }),
  });
  await monitor.watch(names.map((name) => ({ name, labels: {} })));
  const tell = (appliance: string): void =>
    tellers.get(appliance)?.({ atMs: 0, appliance, object: 'farm', labels: {}, from: 'up', to: 'down' });
  return { monitor, started, settled, behind, withheld, statuses, tell };
}
