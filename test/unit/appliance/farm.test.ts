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

it('a farm has no state and no address instead of empty words', () => {
  expect(farmOf({ farmname: 'shop' })).toEqual({
    name: 'shop',
    profile: '',
    state: 'unknown',
    vip: undefined,
    vport: undefined,
  });
  expect(farmOf({ farmname: 'shop', profile: null, status: null, vip: '', vport: '' }).vip).toBeUndefined();
});

it('the state of a farm is the word that metrics use', () => {
  const states = ['needed restart', '-1'].map((status) => farmOf({ farmname: 'shop', status }).state);

  expect(states).toEqual(['needed_restart', 'unknown']);
});
