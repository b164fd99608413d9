import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Representation } from '../../../src/metrics/page.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { createCounters } from '../../../src/monitor/counters.ts';
import { createFleet, type FleetParts } from '../../../src/monitor/fleet.ts';
import type { Monitor, MonitoredAppliance } from '../../../src/monitor/monitor.ts';
import type { ApplianceStatus, RecentTransition } from '../../../src/monitor/status.ts';
import { applianceStatus } from '../../support/appliance-status.ts';

const text: Representation = { format: 'text', encoding: 'gzip' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a page', () => {
  it('brings the named appliances up to now, or all of them, at each request', async () => {
    const { monitor, expired } = await given(['lb-1', 'lb-2', 'lb-3']);

    await monitor.page(text, new Set(['lb-2']));
    const forOne = expired.splice(0);
    await monitor.page(text);

    expect(forOne).toEqual(['lb-2']);
    expect(expired).toEqual(['lb-1', 'lb-2', 'lb-3']);
  });
});

describe('what is too old', () => {
  it('is removed each second, though nobody asks for a page', async () => {
    const { monitor, expired } = await given(['lb-1', 'lb-2']);
    monitor.start();

    await vi.advanceTimersByTimeAsync(3_000);
    await closed(monitor);
    const untilClosed = expired.splice(0);
    await vi.advanceTimersByTimeAsync(3_000);

    expect(untilClosed).toEqual(['lb-1', 'lb-2', 'lb-1', 'lb-2', 'lb-1', 'lb-2']);
    expect(expired).toEqual([]);
  });
});

describe('a fleet that was changed', () => {
  it('shows the counters of an appliance again at once, when its poller or its machine is another', async () => {
    const { monitor, published } = await given(['lb-1', 'lb-2']);

    await monitor.watch([
      { name: 'lb-2', labels: { site: 'paris' } },
      { name: 'lb-3', labels: {} },
    ]);

    expect(published).toEqual(['lb-2']);
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

async function given(names: readonly string[]) {
  const started: string[] = [];
  const expired: string[] = [];
  const published: string[] = [];
  const statuses = new Map<string, ApplianceStatus>();
  const nothingKnown = applianceStatus({ name: 'any' });
  const tellers = new Map<string, (transition: RecentTransition) => void>();
  const createPoller: FleetParts<MonitoredAppliance>['createPoller'] = ({ name }, _, onTransition) => {
    tellers.set(name, onTransition);
    return {
      name,
      publish: () => void published.push(name),
      start: () => void started.push(name),
      expire: () => void expired.push(name),
      run: () => Promise.resolve(),
      changed: () => Promise.resolve(),
      hadFirstRuns: true,
      describe: () => statuses.get(name) ?? nothingKnown,
      close: () => Promise.resolve(),
      counters: createCounters(name),
      state: {
        age: () => 0,
        newest: new Map(),
        stored: new Map(),
        evicted: new Map(),
        states: new Map(),
        statistics: { entries: new Map(), answeredAtMs: undefined, called: false, offsetSeconds: undefined },
        opensAtMs: 0,
      },
    };
  };
  const monitor = createFleet({
    createPoller,
    isSame: (one, other) => one.labels.site === other.labels.site,
    isSameMachine: () => true,
    store: createMetricsStore([]),
  });
  await monitor.watch(names.map((name) => ({ name, labels: {} })));
  const tell = (appliance: string): void =>
    tellers.get(appliance)?.({ atMs: 0, appliance, object: 'farm', labels: {}, from: 'up', to: 'down' });
  return { monitor, started, expired, published, statuses, tell };
}
