import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Representation } from '../../../src/metrics/exposition.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import { createCounters } from '../../../src/scheduler/counters.ts';
import { FleetPoller, type FleetParts, type PolledAppliance } from '../../../src/scheduler/fleet.ts';
import { Lateness } from '../../../src/scheduler/lateness.ts';
import { ApplianceState, type StateListener } from '../../../src/state/appliance-state.ts';
import type { NewReading } from '../../../src/state/reading.ts';
import type { Transition } from '../../../src/state/status.ts';
import { applianceCollector } from '../../../src/collectors/appliance.ts';
import { unknownAppliance } from '../../support/fleet-status.ts';

const text: Representation = { format: 'text', encoding: 'gzip' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('an exposition refreshes the named appliances, or all of them, at each request', async () => {
  const { fleet, expired } = await given(['lb-1', 'lb-2', 'lb-3']);

  await fleet.exposition(text, new Set(['lb-2']));
  const forOne = expired.splice(0);
  await fleet.exposition(text);

  expect(forOne).toEqual(['lb-2']);
  expect(expired).toEqual(['lb-1', 'lb-2', 'lb-3']);
});

it('a stale reading is removed within a second, without a request', async () => {
  const { fleet, expired } = await given(['lb-1', 'lb-2']);
  fleet.start();

  await vi.advanceTimersByTimeAsync(3_000);
  await closed(fleet);
  const untilClosed = expired.splice(0);
  await vi.advanceTimersByTimeAsync(3_000);

  expect(untilClosed).toEqual(['lb-1', 'lb-2', 'lb-1', 'lb-2', 'lb-1', 'lb-2']);
  expect(expired).toEqual([]);
});

it('a changed fleet shows the counters of an appliance at once with another poller or machine', async () => {
  const { fleet, published } = await given(['lb-1', 'lb-2']);

  await fleet.watch([
    { name: 'lb-2', labels: { site: 'paris' } },
    { name: 'lb-3', labels: {} },
  ]);

  expect(published).toEqual(['lb-2']);
});

it('the status of a fleet keeps events of an appliance with new settings, and none of a removed one', async () => {
  const { fleet, tell } = await given(['lb-1', 'lb-2']);
  tell('lb-1');
  tell('lb-2');

  await fleet.watch([{ name: 'lb-2', labels: { site: 'paris' } }]);
  tell('lb-2');

  expect(fleet.status().transitions.map(({ appliance }) => appliance)).toEqual(['lb-2', 'lb-2']);
});

describe('a thousand appliances', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `lb-${index}`);

  it('are started one by one, the first at once, a hundred per second', async () => {
    const { fleet, started } = await given(names);

    fleet.start();
    const atOnce = started.length;
    await vi.advanceTimersByTimeAsync(1_000);
    const afterASecond = started.length;
    await vi.advanceTimersByTimeAsync(14_000);
    await closed(fleet);

    expect(atOnce).toBe(1);
    expect(afterASecond).toBeGreaterThan(50);
    expect(afterASecond).toBeLessThan(150);
    expect(started).toEqual(names);
  });

  it('are not started after the fleet is closed', async () => {
    const { fleet, started } = await given(names);
    fleet.start();
    await vi.advanceTimersByTimeAsync(500);

    await closed(fleet);
    const atClose = started.length;
    await vi.advanceTimersByTimeAsync(10_000);

    expect(started).toHaveLength(atClose);
  });
});

const emptyReading: NewReading = {
  collector: applianceCollector,
  data: {},
  askedAtElapsedMs: 0,
  isWhole: true,
  maxStaleMs: 0,
  lifeMs: 0,
};

async function closed(fleet: FleetPoller<PolledAppliance>): Promise<void> {
  const closing = fleet.close();
  await vi.advanceTimersByTimeAsync(0);
  await closing;
}

async function given(names: readonly string[]) {
  const started: string[] = [];
  const expired: string[] = [];
  const published: string[] = [];
  const tellers = new Map<string, StateListener>();
  const createPoller: FleetParts<PolledAppliance>['createPoller'] = ({ name }, _, listener) => {
    tellers.set(name, listener);
    const state = new ApplianceState({
      appliance: name,
      collectors: new Map(),
      watches: () => true,
      maxBytes: 0,
      listeners: [],
      now: () => 0,
    });
    return {
      state,
      name,
      publish: () => void published.push(name),
      start: () => void started.push(name),
      expire: () => void expired.push(name),
      refresh: () => Promise.resolve(),
      hadFirstRuns: true,
      status: () => unknownAppliance({ name }),
      close: () => Promise.resolve(),
      counters: createCounters(name),
      handover: {
        state,
        availability: {
          answeredAtElapsedMs: undefined,
          wasCalled: false,
          offsetSeconds: undefined,
          failing: undefined,
        },
        jobs: new Map(),
        lateness: new Lateness(),
        notBefore: { urgentSteadyMs: 0, routineSteadyMs: 0, immediateSteadyMs: 0 },
        failure: undefined,
      },
    };
  };
  const fleet = new FleetPoller({
    createPoller,
    isSame: (one, other) => one.labels.site === other.labels.site,
    isSameMachine: () => true,
    store: createMetricsStore([]),
  });
  await fleet.watch(names.map((name) => ({ name, labels: {} })));
  const tell = (appliance: string): void => {
    const transition: Transition = { atMs: 0, appliance, object: 'farm', labels: {}, from: 'up', to: 'down' };
    tellers.get(appliance)?.onReading?.(emptyReading, [transition], { atMs: 0, atElapsedMs: 0 });
  };
  return { fleet, started, expired, published, tell };
}
