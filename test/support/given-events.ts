import { onTestFinished } from 'vitest';
import type { Difference, EventQuery, FoundEvents, NewEvent } from '../../src/history/event.ts';
import { toStoredEvent } from '../../src/history/stored-event.ts';
import { HistoryStore } from '../../src/history/store.ts';
import { minuteMs, nowMs } from './fleet-status.ts';

/** A history in memory with these events; the first one is the oldest. */
export function givenHistory(...events: readonly NewEvent[]) {
  const store = new HistoryStore(':memory:');
  onTestFinished(() => store.close());
  store.write(events.map((event) => ({ event: toStoredEvent(event) })));
  return {
    add: (event: NewEvent): void => void store.write([{ event: toStoredEvent(event) }]),
    find: (query: EventQuery): Promise<FoundEvents> => Promise.resolve(store.find(query)),
    findText: (query: EventQuery): Promise<string> => Promise.resolve(JSON.stringify(store.find(query))),
    timesOf: (appliance: string, farm: string) => Promise.resolve(store.timesOf(appliance, farm)),
  };
}

/** A difference of the configuration of the farm `shop` of `lb-1`, made elsewhere a minute ago. */
export function historyEvent(given: Partial<NewEvent> = {}): NewEvent {
  const differences = given.differences ?? [weightChange()];
  return {
    kind: 'configuration',
    appliance: 'lb-1',
    farm: differences[0]?.farm ?? '',
    atMs: nowMs - minuteMs,
    by: 'elsewhere',
    differences,
    ...given,
  };
}

export function weightChange(given: Partial<Difference> = {}): Difference {
  const place = { object: 'backend', farm: 'shop', service: 'front', name: '10.0.0.1:80' } as const;
  return { ...place, setting: 'weight', before: '1', after: '5', ...given };
}
