import { describe, expect, it } from 'vitest';
import { createRota } from '../../../src/monitor/rota.ts';

const farms = (...names: string[]) => names.map((name) => ({ name, profile: 'http', status: 'up' }));
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

describe('the rota of a collector', () => {
  it('keeps the order of the appliance in the first round, and in every round that was whole', () => {
    const rota = createRota();
    const list = farms('a', 'b', 'c');

    const first = namesOf(rota.inTurn(list));
    for (const name of first) rota.asked(name, 0.1);

    expect(first).toEqual(['a', 'b', 'c']);
    expect(namesOf(rota.inTurn(list))).toEqual(['a', 'b', 'c']);
  });

  it('goes on where a round was cut off, and asks a new farm before all', () => {
    const rota = createRota();
    for (const name of ['a', 'b', 'c', 'd']) rota.asked(name, 0.1);

    for (const name of ['a', 'b']) rota.asked(name, 0.1);

    expect(namesOf(rota.inTurn(farms('a', 'b', 'c', 'd', 'new')))).toEqual(['new', 'c', 'd', 'a', 'b']);
  });

  it('forgets a farm that is gone, its place and its cost', () => {
    const rota = createRota();
    rota.asked('slow', 10);
    rota.asked('quick', 0.1);

    const left = namesOf(rota.inTurn(farms('quick')));

    expect(left).toEqual(['quick']);
    expect(rota.roundSeconds(1)).toBeCloseTo(0.1);
  });

  it('knows a round by the last call of each farm, and by their mean where there was none', () => {
    const rota = createRota();
    expect(rota.roundSeconds(100), 'nothing is known').toBe(0);

    rota.asked('a', 0.1);
    rota.asked('b', 0.3);
    rota.asked('a', 0.5);

    expect(rota.roundSeconds(100)).toBeCloseTo(40);
  });

  it('learns nothing about costs from a call that was given up, and has the farm wait for its next turn all the same', () => {
    const rota = createRota();
    rota.asked('a', 0.1);
    rota.asked('b', 0.1);

    rota.asked('a', undefined);

    expect(rota.roundSeconds(2)).toBeCloseTo(0.2);
    expect(namesOf(rota.inTurn(farms('a', 'b')))).toEqual(['b', 'a']);
  });
});
