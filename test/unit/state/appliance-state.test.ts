import { expect, it, vi } from 'vitest';
import { farmsCollector } from '../../../src/collectors/farms.ts';
import { ApplianceState } from '../../../src/state/appliance-state.ts';
import type { NewReading } from '../../../src/state/reading.ts';
import type { Transition } from '../../../src/state/status.ts';

const reading = (state: string): NewReading => ({
  collector: farmsCollector,
  data: { farms: [{ name: 'shop', profile: 'http', state }], excluded: 0 },
  askedAtElapsedMs: 0,
  maxStaleMs: 1_000,
  lifeMs: 1_000,
  isWhole: true,
});

it('a change in a reading that could not be published is a change in the next one', () => {
  const publish = vi.fn<() => void>();
  const seen: Transition[] = [];
  const state = new ApplianceState({
    appliance: 'lb',
    collectors: new Map([[farmsCollector.name, farmsCollector]]),
    watches: () => true,
    maxBytes: 10_000,
    listeners: [{ onReading: publish }, { onReading: (_reading, transitions) => void seen.push(...transitions) }],
    now: () => 0,
  });
  state.put(reading('up'));
  publish.mockImplementationOnce(() => {
    throw new Error('cannot be published');
  });
  expect(() => state.put(reading('down'))).toThrow('cannot be published');

  const { changedFarms } = state.put(reading('down'));

  expect(changedFarms).toEqual(['shop']);
  expect(seen).toMatchObject([{ object: 'farm', from: 'up', to: 'down' }]);
});
