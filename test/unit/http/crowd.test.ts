import { describe, expect, it } from 'vitest';
import { largestCrowd, networkOf } from '../../../src/http/crowd.ts';

const addressOf = (address: string): string => address;

describe('a crowd', () => {
  it('is those of the network that has the most, and unfair to who would have fewer', () => {
    const all = ['192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.2'];

    expect(largestCrowd({ all, addressOf, newcomer: '192.0.2.9' })).toEqual({
      members: ['192.0.2.2', '192.0.2.2', '192.0.2.2'],
      isUnfair: true,
    });
    expect(largestCrowd({ all, addressOf, newcomer: '192.0.2.1' }).isUnfair).toBe(true);
    expect(largestCrowd({ all, addressOf, newcomer: '192.0.2.2' }).isUnfair).toBe(false);
    expect(largestCrowd({ all: ['192.0.2.2'], addressOf, newcomer: '192.0.2.1' }).isUnfair).toBe(false);
  });

  it('is one machine, however many addresses of its network it takes', () => {
    const all = ['192.0.2.1', '2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8:0:1::1', '2001:db8::ffff:1:2'];

    expect(largestCrowd({ all, addressOf, newcomer: undefined }).members).toEqual([
      '2001:db8::1',
      '2001:db8:0:0:ffff::2',
      '2001:db8::ffff:1:2',
    ]);
  });
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['1::2:3:4:5:6:7', '1:0:2:3'],
  [undefined, ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
