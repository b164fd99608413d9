import { describe, expect, it } from 'vitest';
import type { ObjectState } from '../../../src/collectors/collector.ts';
import { createTransitions } from '../../../src/monitor/transitions.ts';
import { givenLog } from './given-log.ts';

const origin = { collector: 'farms' };
const farm = (name: string, state: string): ObjectState => ({ object: 'farm', labels: { farm: name }, state });

function given() {
  const { log, lines } = givenLog();
  const counted: string[] = [];
  const transitions = createTransitions({
    log,
    known: new Map(),
    onTransition: ({ object, to }) => void counted.push(`${object} ${to}`),
    now: () => 0,
  });
  return { transitions, counted, lines };
}

describe('a transition', () => {
  it('is no first sight, and no reading that says the same again', () => {
    const { transitions, counted, lines } = given();

    transitions.compare(origin, [farm('shop', 'down')]);
    transitions.compare(origin, [farm('shop', 'down')]);
    transitions.compare(origin, [farm('shop', 'down'), farm('new', 'down')]);

    expect([counted, lines]).toEqual([[], []]);
  });

  it('is counted by where it leads, and logged with where it came from', () => {
    const { transitions, counted, lines } = given();
    transitions.compare(origin, [farm('shop', 'up'), farm('db', 'up')]);

    transitions.compare(origin, [farm('shop', 'problem'), farm('db', 'up')]);

    expect(counted).toEqual(['farm problem']);
    expect(lines).toEqual([
      { level: 30, object: 'farm', farm: 'shop', from: 'up', to: 'problem', msg: 'state changed' },
    ]);
  });

  it('is logged alone up to a thousand of one reading, and counted always', () => {
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

  it('leads to unknown for every word that is not in the closed list, and not from one such word to another', () => {
    const { transitions, counted } = given();
    transitions.compare(origin, [farm('shop', 'up')]);

    for (const word of ['dancing', 'singing', '', 'constructor', 'unknown'])
      transitions.compare(origin, [farm('shop', word)]);

    expect(counted).toEqual(['farm unknown']);
  });

  it('is seen across a time in which nothing could be read', () => {
    const { transitions, counted } = given();
    transitions.compare(origin, [farm('shop', 'up')]);

    // Hours pass, the reading is evicted meanwhile, and then an answer comes again.
    transitions.compare(origin, [farm('shop', 'down')]);

    expect(counted).toEqual(['farm down']);
  });

  it('is none when an object was gone in between', () => {
    const { transitions, counted } = given();
    transitions.compare(origin, [farm('shop', 'up')]);

    transitions.compare(origin, []);
    transitions.compare(origin, [farm('shop', 'down')]);

    expect(counted).toEqual([]);
  });

  it('is none when its origin was forgotten', () => {
    const { transitions, counted } = given();
    const shop = { collector: 'backends', farm: 'shop' };
    const backend = (state: string): ObjectState => ({
      object: 'backend',
      labels: { farm: 'shop', service: '', backend: 'a' },
      state,
    });
    transitions.compare(shop, [backend('up')]);

    transitions.forget(shop);
    transitions.compare(shop, [backend('down')]);

    expect(counted).toEqual([]);
  });

  it('of one farm has nothing to do with readings of another', () => {
    const { transitions, counted } = given();
    const backend = (state: string): ObjectState[] => [{ object: 'backend', labels: { backend: 'a' }, state }];

    transitions.compare({ collector: 'backends', farm: 'shop' }, backend('up'));
    transitions.compare({ collector: 'backends', farm: 'db' }, backend('down'));
    transitions.compare({ collector: 'backends', farm: 'shop' }, backend('down'));

    expect(counted).toEqual(['backend down']);
  });
});
