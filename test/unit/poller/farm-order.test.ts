import { describe, expect, it } from 'vitest';
import { FarmOrder } from '../../../src/poller/job.ts';

const farms = (...names: string[]) => names.map((name) => ({ name, profile: 'http', state: 'up' }));
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

describe('the order of farms in a round', () => {
  it('keeps the order of the appliance in the first round, and in every round that was whole', () => {
    const farmOrder = new FarmOrder();
    const list = farms('a', 'b', 'c');

    const first = namesOf(farmOrder.next(list));
    for (const name of first) farmOrder.read(name, 0.1);

    expect(first).toEqual(['a', 'b', 'c']);
    expect(namesOf(farmOrder.next(list))).toEqual(['a', 'b', 'c']);
  });

  it('continues where a round was cut off, and reads a new farm first', () => {
    const farmOrder = new FarmOrder();
    for (const name of ['a', 'b', 'c', 'd']) farmOrder.read(name, 0.1);

    for (const name of ['a', 'b']) farmOrder.read(name, 0.1);

    expect(namesOf(farmOrder.next(farms('a', 'b', 'c', 'd', 'new')))).toEqual(['new', 'c', 'd', 'a', 'b']);
  });

  it('forgets a farm that is gone, with its cost', () => {
    const farmOrder = new FarmOrder();
    farmOrder.read('slow', 10);
    farmOrder.read('quick', 0.1);

    const left = namesOf(farmOrder.next(farms('quick')));

    expect(left).toEqual(['quick']);
    expect(farmOrder.roundSeconds(1)).toBeCloseTo(0.1);
  });

  it('estimates a round by the last call of each farm, and by their mean where there was none', () => {
    const farmOrder = new FarmOrder();
    expect(farmOrder.roundSeconds(100), 'nothing is known').toBe(0);

    farmOrder.read('a', 0.1);
    farmOrder.read('b', 0.3);
    farmOrder.read('a', 0.5);

    expect(farmOrder.roundSeconds(100)).toBeCloseTo(40);
  });

  it('ignores the cost of an aborted call, and still moves the farm to the end', () => {
    const farmOrder = new FarmOrder();
    farmOrder.read('a', 0.1);
    farmOrder.read('b', 0.1);

    farmOrder.read('a', undefined);

    expect(farmOrder.roundSeconds(2)).toBeCloseTo(0.2);
    expect(namesOf(farmOrder.next(farms('a', 'b')))).toEqual(['b', 'a']);
  });
});
