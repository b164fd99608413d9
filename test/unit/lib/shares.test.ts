import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { withinShares } from '../../../src/lib/shares.ts';

const owner = (item: string): string => item.slice(0, 1);

it('a shared list evicts the oldest entry of the owner with the most', () => {
  expect(withinShares(['b5', 'b4', 'a2', 'b3', 'b2', 'a1', 'b1'], 4, owner)).toEqual(['b5', 'b4', 'a2', 'a1']);
  expect(withinShares(['a2', 'b1', 'a1'], 3, owner)).toEqual(['a2', 'b1', 'a1']);
  expect(withinShares(['a2', 'a1'], 1, owner)).toEqual(['a2']);
});

it('a shared list keeps its limit, and evicts nothing from owners below an equal share', () => {
  const lists = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 });
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 40 }), (owners, max) => {
      const all = owners.map((name, index) => `${name}${index}`);
      const kept = withinShares(all, max, owner);
      expect(kept).toHaveLength(Math.min(all.length, max));
      for (const name of new Set(owners)) {
        const own = all.filter((each) => owner(each) === name);
        const left = kept.filter((each) => owner(each) === name);
        expect(left).toEqual(own.slice(0, left.length));
        if (own.length <= Math.floor(max / new Set(owners).size)) expect(left).toEqual(own);
      }
    }),
  );
});
