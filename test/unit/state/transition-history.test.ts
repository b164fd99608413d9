import { expect, it } from 'vitest';
import { TransitionHistory } from '../../../src/state/transition-history.ts';

const at = (atMs: number, appliance = 'lb') =>
  ({ atMs, appliance, object: 'farm', labels: { farm: 'shop' }, from: 'up', to: 'down' }) as const;

it('the history of transitions returns the newest two hundred first, and the same list until the next one', () => {
  const history = new TransitionHistory();
  for (let time = 0; time < 250; time += 1) history.onReading(undefined, [at(time, `lb-${time % 3}`)]);
  const list = history.newestFirst;

  expect([list.length, list[0]?.atMs, list.at(-1)?.atMs]).toEqual([200, 249, 50]);
  expect(history.newestFirst).toBe(list);
  history.onReading(undefined, [at(250)]);
  expect(history.newestFirst).not.toBe(list);
  expect(list[0]?.atMs, 'a list that was handed out stays as it was').toBe(249);
});

it('the history of transitions keeps those of an appliance beside one that changes all its states at each poll', () => {
  const history = new TransitionHistory();
  history.onReading(undefined, [at(1, 'good'), at(1, 'good')]);
  for (let time = 2; time < 50; time += 1)
    history.onReading(
      undefined,
      Array.from({ length: 900 }, () => at(time, 'evil')),
    );

  expect(history.newestFirst).toHaveLength(200);
  expect(history.newestFirst.slice(-2)).toEqual([at(1, 'good'), at(1, 'good')]);
});

it('the history of transitions forgets only removed appliances', () => {
  const history = new TransitionHistory();
  history.onReading(undefined, [at(1, 'lb-1')]);
  history.onReading(undefined, [at(2, 'lb-2')]);

  history.keepOnly((appliance) => appliance !== 'lb-1');

  expect(history.newestFirst.map(({ appliance }) => appliance)).toEqual(['lb-2']);
});
