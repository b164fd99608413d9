import { describe, expect, it } from 'vitest';
import type { ObjectState } from '../../../src/collectors/collector.ts';
import type { Origin } from '../../../src/state/reading.ts';
import { Transitions, TransitionHistory } from '../../../src/scheduler/transitions.ts';
import { givenLog } from './given-log.ts';

const origin = { collector: 'farms' };
const farm = (name: string, state: string): ObjectState => ({ object: 'farm', labels: { farm: name }, state });

function given() {
  const { log, lines } = givenLog();
  const counted: string[] = [];
  const transitions = new Transitions({ appliance: 'lb', log, known: new Map(), now: () => 0, age: () => 0 });
  return {
    transitions: {
      compare(from: Origin, states: readonly ObjectState[]) {
        for (const { object, to } of transitions.compare(from, states)) counted.push(`${object} ${to}`);
      },
      forget: (from: Origin) => transitions.forget(from),
    },
    counted,
    lines,
  };
}

describe('a transition', () => {
  it('is not recorded for a first or an unchanged reading', () => {
    const { transitions, counted, lines } = given();

    transitions.compare(origin, [farm('shop', 'down')]);
    transitions.compare(origin, [farm('shop', 'down')]);
    transitions.compare(origin, [farm('shop', 'down'), farm('new', 'down')]);

    expect([counted, lines]).toEqual([[], []]);
  });

  it('is counted by its new state, and logged with its old one', () => {
    const { transitions, counted, lines } = given();
    transitions.compare(origin, [farm('shop', 'up'), farm('db', 'up')]);

    transitions.compare(origin, [farm('shop', 'problem'), farm('db', 'up')]);

    expect(counted).toEqual(['farm problem']);
    expect(lines).toEqual([
      { level: 30, object: 'farm', farm: 'shop', from: 'up', to: 'problem', msg: 'state changed' },
    ]);
  });

  it('is logged up to a thousand times per reading, and always counted', () => {
    const { transitions, counted, lines } = given();
    const farms = (state: string) => Array.from({ length: 1_500 }, (_, index) => farm(`f${index}`, state));
    transitions.compare(origin, farms('up'));

    transitions.compare(origin, farms('down'));

    expect(counted).toHaveLength(1_500);
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toEqual({
      level: 30,
      collector: 'farms',
      changes: 1_500,
      logged: 1_000,
      msg: 'more states changed than are logged one by one',
    });
  });

  it('leads to unknown for every word outside the closed list, and not from one such word to another', () => {
    const { transitions, counted } = given();
    transitions.compare(origin, [farm('shop', 'up')]);

    for (const word of ['dancing', 'singing', '', 'constructor', 'unknown'])
      transitions.compare(origin, [farm('shop', word)]);

    expect(counted).toEqual(['farm unknown']);
  });

  it.each<readonly [string, (known: ReturnType<typeof given>['transitions']) => void]>([
    ['the object was missing between', ({ compare }) => compare(origin, [])],
    ['its origin was forgotten', ({ forget }) => forget(origin)],
  ])('is not recorded if %s', (_, between) => {
    const { transitions, counted } = given();
    transitions.compare(origin, [farm('shop', 'up')]);

    between(transitions);
    transitions.compare(origin, [farm('shop', 'down')]);

    expect(counted).toEqual([]);
  });

  it('has the same moment as all others of its reading, however long that takes to compare', () => {
    let clock = 0;
    const tick = (): number => (clock += 1);
    const transitions = new Transitions({
      appliance: 'lb',
      log: givenLog().log,
      known: new Map(),
      now: tick,
      age: tick,
    });
    transitions.compare(origin, [farm('shop', 'up'), farm('db', 'up')]);

    const seen = transitions.compare(origin, [farm('shop', 'down'), farm('db', 'down')]);

    expect(new Set(seen.map(({ atMs }) => atMs)).size).toBe(1);
    const since = transitions.changesOf(origin);
    const [shop, db] = ['shop', 'db'].map((name) => since?.({ object: 'farm', labels: { farm: name } }));
    expect(shop).toEqual(db);
  });

  it('of one farm is independent of readings of another', () => {
    const { transitions, counted } = given();
    const backend = (state: string): ObjectState[] => [{ object: 'backend', labels: { backend: 'a' }, state }];

    transitions.compare({ collector: 'backends', farm: 'shop' }, backend('up'));
    transitions.compare({ collector: 'backends', farm: 'db' }, backend('down'));
    transitions.compare({ collector: 'backends', farm: 'shop' }, backend('down'));

    expect(counted).toEqual(['backend down']);
  });
});

const at = (atMs: number, appliance = 'lb') =>
  ({ atMs, appliance, object: 'farm', labels: { farm: 'shop' }, from: 'up', to: 'down' }) as const;

describe('the history of transitions', () => {
  it('has the newest two hundred first, and is the same list until the next one', () => {
    const history = new TransitionHistory();
    for (let time = 0; time < 250; time += 1) history.add(at(time, `lb-${time % 3}`));
    const list = history.newestFirst;

    expect([list.length, list[0]?.atMs, list.at(-1)?.atMs]).toEqual([200, 249, 50]);
    expect(history.newestFirst).toBe(list);
    history.add(at(250));
    expect(history.newestFirst).not.toBe(list);
    expect(list[0]?.atMs, 'a list that was handed out stays as it was').toBe(249);
  });

  it('forgets only removed appliances', () => {
    const history = new TransitionHistory();
    history.add(at(1, 'lb-1'));
    history.add(at(2, 'lb-2'));

    history.keepOnly((appliance) => appliance !== 'lb-1');

    expect(history.newestFirst.map(({ appliance }) => appliance)).toEqual(['lb-2']);
  });
});
