import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { interfaces, type Traffic } from '../../../src/collectors/interfaces.ts';
import { changeFamilies } from '../../../src/history/change-counts.ts';
import { History } from '../../../src/history/history.ts';
import { createMetricsStore } from '../../../src/metrics/store.ts';
import type { Transition } from '../../../src/state/status.ts';

async function given() {
  const store = createMetricsStore(changeFamilies);
  store.arrange(['lb']);
  let atMs = 0;
  const parts = { store, registry: new Registry(), log: pino({ level: 'silent' }), now: () => atMs };
  const history = new History({ keepMs: 1e12 }, parts);
  onTestFinished(() => history.close());
  const appliance = { name: 'lb', scope: '' };
  await history.watch([appliance]);
  let listener = history.listenerOf(appliance);
  const read = (bytes: Readonly<Record<string, number>>, transitions: readonly Transition[] = []) => {
    atMs += 60_000;
    const traffic = Object.entries(bytes).map(
      ([name, receivedBytes]): Traffic => ({ name, receivedBytes, sentBytes: 0 }),
    );
    const reading = { collector: interfaces, data: { traffic, interfaces: [] }, takenAtMs: atMs, isWhole: true };
    listener.put?.({ ...reading, maxStaleMs: 1, lifeMs: 1 }, transitions, { atMs, ageMs: atMs });
  };
  const interfaceOf = (ip: string, { isWhole = true } = {}) => {
    atMs += 60_000;
    const data = { traffic: [], interfaces: [{ name: 'eth0', state: 'up', kind: 'nic', ip, mac: '', parent: '' }] };
    const reading = { collector: interfaces, data, takenAtMs: atMs, maxStaleMs: 1, lifeMs: 1, isWhole };
    listener.put?.(reading, [], { atMs, ageMs: atMs });
  };
  const moveTo = (scope: string): void => void (listener = history.listenerOf({ name: 'lb', scope }));
  return { history, listener, moveTo, read, interfaceOf, events: () => history.find({ limit: 100 }) };
}

describe('the history has', () => {
  it('the restart of an appliance, when all of its interfaces count from 0', async () => {
    const { read, events } = await given();
    read({ eth0: 900, eth1: 500 });
    read({ eth0: 10, eth1: 3 });

    expect(await events()).toMatchObject([{ kind: 'restart', appliance: 'lb', atMs: 120_000 }]);
  });

  it('no restart where an interface is gone, or begins again alone', async () => {
    const { read, events } = await given();
    read({ eth0: 900, vlan: 5_000 });
    read({ eth0: 901 });
    read({ eth0: 902, vlan: 6_000 });
    read({ eth0: 903, vlan: 0 });

    expect(await events()).toEqual([]);
  });

  it('no restart where another machine has the name of the appliance now', async () => {
    const { read, moveTo, events } = await given();
    read({ eth0: 900 });
    moveTo('https://other');
    read({ eth0: 10 });

    expect(await events()).toEqual([]);
  });

  it('when an appliance did not answer, and why', async () => {
    const { listener, events } = await given();
    listener.answering?.(false, 'timeout');
    listener.answering?.(true, undefined);

    expect(await events()).toMatchObject([
      { kind: 'state', differences: [{ before: 'does not answer', after: 'answers' }] },
      { kind: 'state', differences: [{ before: 'answers', after: 'does not answer (timeout)' }] },
    ]);
  });

  it('one event for the states that changed on a farm between two readings', async () => {
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

  it('the last reading that said the same as the beginning of the time of a change', async () => {
    const { interfaceOf, events } = await given();
    for (const ip of ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2']) interfaceOf(ip);

    expect(await events()).toMatchObject([{ sinceMs: 180_000, atMs: 240_000, by: 'elsewhere' }]);
  });

  it('no difference of a reading of which a value could not be read', async () => {
    const { interfaceOf, events } = await given();
    interfaceOf('10.0.0.1');
    interfaceOf('', { isWhole: false });
    interfaceOf('10.0.0.1');

    expect(await events()).toEqual([]);
  });

  it('the starts of the exporter, for each appliance', async () => {
    const { history } = await given();
    history.note('start', 'exporter 1.0.0 started');

    expect(await history.find({ appliance: 'lb', farm: 'shop', limit: 10 })).toMatchObject([
      { kind: 'start', appliance: '', text: 'exporter 1.0.0 started' },
    ]);
  });
});
