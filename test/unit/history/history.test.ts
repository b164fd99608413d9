import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { farmsCollector } from '../../../src/collectors/farms.ts';
import { interfacesCollector, type Traffic } from '../../../src/collectors/interfaces.ts';
import { changeFamilies } from '../../../src/history/configuration-change-counts.ts';
import { History, lostMetric } from '../../../src/history/history.ts';
import type { CreateHistoryThread } from '../../../src/history/history-thread.ts';
import { HistoryRequestHandler } from '../../../src/history/request-handler.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import type { Transition } from '../../../src/state/status.ts';
import { givenFolder } from '../../support/folder.ts';

async function given(file?: string, keepMs = 1e12) {
  const store = createMetricsStore(changeFamilies);
  store.arrange(['lb']);
  let atMs = 0;
  const registry = new Registry();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const parts = { metrics: store, registry, log, now: () => atMs };
  const history = new History({ file, keepMs }, parts);
  onTestFinished(() => history.close());
  const appliance = { name: 'lb', address: '' };
  await history.watch([appliance]);
  let listener = history.listenerOf(appliance);
  const read = (bytes: Readonly<Record<string, number>>, transitions: readonly Transition[] = []) => {
    atMs += 60_000;
    const traffic = Object.entries(bytes).map(
      ([name, receivedBytes]): Traffic => ({ name, receivedBytes, sentBytes: 0 }),
    );
    const reading = {
      collector: interfacesCollector,
      data: { traffic, interfaces: [] },
      askedAtElapsedMs: atMs,
      isWhole: true,
    };
    listener.onReading?.({ ...reading, maxStaleMs: 1, lifeMs: 1 }, transitions, { atMs, atElapsedMs: atMs });
  };
  const interfaceOf = (ip: string, { isWhole = true } = {}) => {
    atMs += 60_000;
    const data = { traffic: [], interfaces: [{ name: 'eth0', state: 'up', kind: 'nic', ip, mac: '', parent: '' }] };
    const reading = { collector: interfacesCollector, data, askedAtElapsedMs: atMs, maxStaleMs: 1, lifeMs: 1, isWhole };
    listener.onReading?.(reading, [], { atMs, atElapsedMs: atMs });
  };
  const moveTo = (address: string): void => void (listener = history.listenerOf({ name: 'lb', address }));
  const lost = async () => (await registry.getSingleMetric(lostMetric.name)!.get()).values[0]?.value;
  return {
    history,
    lost,
    lines,
    listener,
    moveTo,
    read,
    interfaceOf,
    events: async () => (await history.find({ limit: 1_000 })).events,
  };
}

describe('the history', () => {
  it('records the restart of an appliance when all of its interfaces count from 0', async () => {
    const { read, events } = await given();
    read({ eth0: 900, eth1: 500 });
    read({ eth0: 10, eth1: 3 });

    expect(await events()).toMatchObject([{ kind: 'restart', appliance: 'lb', atMs: 120_000 }]);
  });

  it('records no restart when an interface is gone, or restarts alone', async () => {
    const { read, events } = await given();
    read({ eth0: 900, vlan: 5_000 });
    read({ eth0: 901 });
    read({ eth0: 902, vlan: 6_000 });
    read({ eth0: 903, vlan: 0 });

    expect(await events()).toEqual([]);
  });

  it('records no restart when another machine now has the name of the appliance', async () => {
    const { read, moveTo, events } = await given();
    read({ eth0: 900 });
    moveTo('https://other');
    read({ eth0: 10 });

    expect(await events()).toEqual([]);
  });

  it('records a change of a value that was the same for longer than events are kept', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { interfaceOf, events } = await given(undefined, 15 * 60_000);
    for (let minute = 0; minute < 30; minute += 1) {
      interfaceOf('192.0.2.1');
      vi.advanceTimersByTime(60_000);
      await events();
    }

    interfaceOf('192.0.2.2');

    expect(await events()).toMatchObject([{ kind: 'configuration', differences: [{ after: '192.0.2.2' }] }]);
  });

  it('records when an appliance did not respond, and why', async () => {
    const { listener, events } = await given();
    listener.onAnswering?.(false, 'timeout');
    listener.onAnswering?.(true, undefined);

    expect(await events()).toMatchObject([
      { kind: 'state', differences: [{ before: 'does not answer', after: 'answers' }] },
      { kind: 'state', differences: [{ before: 'answers', after: 'does not answer (timeout)' }] },
    ]);
  });

  it('records one event for the states that changed on a farm between two readings', async () => {
    const { read, events } = await given();
    const down = (backend: string): Transition => ({
      appliance: 'lb',
      atMs: 60_000,
      object: 'backend',
      labels: { farm: 'shop', service: 'web', backend },
      from: 'up',
      to: 'down',
    });
    read({ eth0: 1 }, [down('10.0.0.1:80'), down('10.0.0.2:80')]);

    expect(await events()).toMatchObject([
      { kind: 'state', farm: 'shop', differences: [{ name: '10.0.0.1:80' }, { name: '10.0.0.2:80', after: 'down' }] },
    ]);
  });

  it('dates the beginning of a change to the last reading with the same value', async () => {
    const { interfaceOf, events } = await given();
    for (const ip of ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2']) interfaceOf(ip);

    expect(await events()).toMatchObject([{ sinceMs: 180_000, atMs: 240_000, by: 'elsewhere' }]);
  });

  it('records no difference for a reading with an unreadable value', async () => {
    const { interfaceOf, events } = await given();
    interfaceOf('10.0.0.1');
    interfaceOf('', { isWhole: false });
    interfaceOf('10.0.0.1');

    expect(await events()).toEqual([]);
  });

  it('records the starts of the exporter, for each appliance', async () => {
    const { history } = await given();
    history.recordExporterEvent('start', 'exporter 1.0.0 started');

    expect(await history.find({ appliance: 'lb', farm: 'shop', limit: 10 })).toMatchObject({
      events: [{ kind: 'start', appliance: '', text: 'exporter 1.0.0 started' }],
    });
  });

  it('keeps what happens while it moves to another file, in one of the two', async () => {
    const file = join(givenFolder(), 'history.db');
    const { history, lost, events } = await given(file);

    const moving = history.watch([], { keepMs: 1e12 }).then(() => true);
    let noted = 0;
    while (!(await Promise.race([moving, yieldToEventLoop(false)]))) {
      if (noted === 500) continue;
      history.recordExporterEvent('reload', `while it moves, ${noted}`);
      noted += 1;
    }
    const inTheNewOne = await events();
    await history.watch([], { file, keepMs: 1e12 });
    const inTheOldOne = await events();

    expect(noted).toBeGreaterThan(1);
    expect(inTheOldOne.length + inTheNewOne.length).toBe(noted);
    expect(await lost()).toBe(0);
  });

  it('logs the file that fails by name, also when it moves to another one', async () => {
    const folder = givenFolder();
    const { history, lines } = await given(folder);

    await history.watch([], { keepMs: 1e12 });

    expect(lines.map((line) => (JSON.parse(line) as { readonly file: string }).file)).toEqual([folder]);
  });
});

it('the times of a farm have no gap while they are on their way to the file', async () => {
  const handler = new HistoryRequestHandler(undefined);
  const disk = Promise.withResolvers<void>();
  let last: Promise<unknown> = disk.promise;
  const createThread: CreateHistoryThread = () => ({
    isRunning: true,
    // One after another, as the thread does.
    request(request) {
      const response = last.then(() => handler.handle(request));
      last = response;
      return response;
    },
    terminate: () => Promise.resolve(),
  });
  const parts = {
    metrics: createMetricsStore(changeFamilies),
    registry: new Registry(),
    log: pino({ level: 'silent' }),
    now: () => 0,
    createThread,
  };
  const history = new History({ keepMs: 1e12 }, parts);
  const listener = history.listenerOf({ name: 'lb', address: '' });
  history.recordExporterEvent('reload', 'under way to the disk');
  for (let minute = 0; minute <= 10; minute += 1) {
    const atMs = minute * 60_000;
    const data = { farms: [{ name: 'shop', profile: 'http', state: 'up' }] };
    const reading = {
      collector: farmsCollector,
      data,
      askedAtElapsedMs: atMs,
      maxStaleMs: 1,
      lifeMs: 120_000,
      isWhole: false,
    };
    listener.onReading?.(reading, [], { atMs, atElapsedMs: atMs });
  }

  const times = history.timesOf('lb', 'shop');
  disk.resolve();

  expect((await times).map(({ up }) => up)).toEqual([600_000, 600_000]);
});

it('a history that moves to another file does not wait for the thread of the old one to end', async () => {
  const store = createMetricsStore(changeFamilies);
  const hung: CreateHistoryThread = () => ({
    isRunning: true,
    request: async () => ({}),
    terminate: () => new Promise(() => undefined),
  });
  const parts = {
    metrics: store,
    registry: new Registry(),
    log: pino({ level: 'silent' }),
    now: Date.now,
    createThread: hung,
  };
  const history = new History({ file: 'old.db', keepMs: 1e12 }, parts);

  await expect(history.watch([], { file: 'new.db', keepMs: 1e12 })).resolves.toBeUndefined();
});
