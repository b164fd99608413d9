import { expect, it } from 'vitest';
import { addressOf, farmOf } from '../../../src/appliance/farm.ts';

it.each([
  ['192.0.2.20', '443', '192.0.2.20:443'],
  ['2001:db8::20', '443', '[2001:db8::20]:443'],
  ['192.0.2.20', '80,443', '192.0.2.20:80,443'],
  ['192.0.2.20', undefined, '192.0.2.20'],
  [undefined, undefined, ''],
])('the address of a farm at %s port %s is written as %s', (vip, vport, address) => {
  expect(addressOf({ vip, vport })).toBe(address);
});

it('a farm of a row has what nobody says as empty words, and no address instead of an empty one', () => {
  expect(farmOf({ farmname: 'shop' })).toEqual({
    name: 'shop',
    profile: '',
    state: '',
    vip: undefined,
    vport: undefined,
  });
  expect(farmOf({ farmname: 'shop', profile: null, status: null, vip: '', vport: '' }).vip).toBeUndefined();
});
