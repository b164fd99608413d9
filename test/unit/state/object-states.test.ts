import { expect, it } from 'vitest';
import type { ObjectState } from '../../../src/collectors/collector.ts';
import { compareStates, type ObjectStates, changeTimesOf } from '../../../src/state/object-states.ts';

const farm = (name: string, state: string): ObjectState => ({ object: 'farm', labels: { farm: name }, state });
const moment = { atMs: 5, atElapsedMs: 7 };

/** Compares each reading with the one before it. */
function given() {
  let states: ObjectStates | undefined;
  const counted: string[] = [];
  return {
    counted,
    compare(objects: readonly ObjectState[]) {
      const compared = compareStates('lb', states, objects, moment);
      states = compared.states;
      counted.push(...compared.transitions.map(({ object, to }) => `${object} ${to}`));
      return compared;
    },
  };
}

it('a transition is not recorded for a first or an unchanged reading', () => {
  const { compare, counted } = given();

  compare([farm('shop', 'down')]);
  compare([farm('shop', 'down')]);
  compare([farm('shop', 'down'), farm('new', 'down')]);

  expect(counted).toEqual([]);
});

it('a transition has the new state and the old one', () => {
  const { compare } = given();
  compare([farm('shop', 'up'), farm('db', 'up')]);

  const { transitions } = compare([farm('shop', 'problem'), farm('db', 'up')]);

  expect(transitions).toEqual([
    { appliance: 'lb', atMs: 5, object: 'farm', labels: { farm: 'shop' }, from: 'up', to: 'problem' },
  ]);
});

it('a transition leads to unknown for every word outside the closed list, but not between two such words', () => {
  const { compare, counted } = given();
  compare([farm('shop', 'up')]);

  for (const word of ['dancing', 'singing', '', 'constructor', 'unknown']) compare([farm('shop', word)]);

  expect(counted).toEqual(['farm unknown']);
});

it('a transition is not recorded if the object was missing in between', () => {
  const { compare, counted } = given();
  compare([farm('shop', 'up')]);

  compare([]);
  compare([farm('shop', 'down')]);

  expect(counted).toEqual([]);
});

it('a transition dates the state of its object, and a clock that was set back does not put it into the future', () => {
  const { compare } = given();
  const first = compare([farm('shop', 'up'), farm('db', 'up')]);
  const { states } = compare([farm('shop', 'down'), farm('db', 'up')]);
  const since = changeTimesOf(states, () => 3);

  expect(changeTimesOf(first.states, () => 9)).toBeUndefined();
  expect(['shop', 'db'].map((name) => since?.(farm(name, '')))).toEqual([{ atMs: 3, atElapsedMs: 7 }, undefined]);
  expect(changeTimesOf(states, () => 9)?.(farm('shop', ''))).toEqual(moment);
});

it('a transition uses no further memory while nothing changes', () => {
  const { compare } = given();
  const { states } = compare([farm('shop', 'up')]);

  expect(compare([farm('shop', 'up')]).states).toBe(states);
});
