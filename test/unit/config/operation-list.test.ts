import { expect, it } from 'vitest';
import { matchOperations } from '../../../src/config/settings.ts';
import { operations } from './given-config.ts';

it('an entry of allow or deny is one operation if it is a key or a route, with any characters', () => {
  for (const [key, route] of operations) {
    expect(matchOperations(key, operations)).toEqual([key]);
    expect(matchOperations(route, operations)).toEqual([key]);
  }
});

it('an entry of allow or deny matches any characters with *, even slashes, and all others literally', () => {
  const table = new Map([
    ['readFarm', 'GET /farms/{farmname}'],
    ['readBackend', 'GET /farms/{farmname}/backends/{id}'],
    ['deleteFarm', 'DELETE /farms/{farmname}'],
  ]);

  expect(matchOperations('GET *', table)).toEqual(['readFarm', 'readBackend']);
  expect(matchOperations('*Farm', table)).toEqual(['readFarm', 'deleteFarm']);
  expect(matchOperations('*', table)).toEqual([...table.keys()]);
  expect(matchOperations('* /farms/{farmname}', table)).toEqual(['readFarm', 'deleteFarm']);
  expect(matchOperations('read.*', table)).toEqual([]);
  expect(matchOperations('readfarm', table)).toEqual([]);
  expect(matchOperations('Farm', table)).toEqual([]);
  expect(matchOperations('', table)).toEqual([]);
});
