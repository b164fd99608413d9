import { expect, it } from 'vitest';
import { repairOf } from '../../../src/requests/repairs.ts';

it.each([
  ['down', 'restart-farm'],
  ['silent', 'restart-farm'],
  ['critical', undefined],
])('ZlbFarmDown of a farm that is %s is repaired by %s', (status, recipe) => {
  expect(repairOf({ alertname: 'ZlbFarmDown', farm: 'shop', status })?.recipe).toBe(recipe);
});
