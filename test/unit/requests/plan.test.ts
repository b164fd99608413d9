import { expect, it } from 'vitest';
import { keyOfChange } from '../../../src/requests/plan.ts';

it.each([
  ['the parameters in another order', 'lb-1', 'drain', { backend: '1', farm: 'shop' }, true],
  ['another value', 'lb-1', 'drain', { farm: 'shop', backend: '2' }, false],
  ['a parameter less', 'lb-1', 'drain', { farm: 'shop' }, false],
  ['another recipe', 'lb-1', 'restart-farm', { farm: 'shop', backend: '1' }, false],
  ['another appliance', 'lb-2', 'drain', { farm: 'shop', backend: '1' }, false],
])('a repair is compared with one that has %s', (_, appliance, recipe, parameters, isSame) => {
  const key = keyOfChange('lb-1', 'drain', { farm: 'shop', backend: '1' });

  expect(keyOfChange(appliance, recipe, parameters) === key).toBe(isSame);
});
