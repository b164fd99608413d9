import { describe, expect, it } from 'vitest';
import { matchOperations } from '../../../src/config/operation-list.ts';
import { operations } from './given-config.ts';

describe('an entry of allow or deny', () => {
  it('is one operation when it is a key or a route, whatever the route has in it', () => {
    for (const [key, route] of operations) {
      expect(matchOperations(key, operations)).toEqual([key]);
      expect(matchOperations(route, operations)).toEqual([key]);
    }
  });

  it('takes * for any characters, slashes too, and everything else for itself', () => {
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
});
