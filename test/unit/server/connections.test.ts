import { describe, expect, it } from 'vitest';
import { largestShare } from '../../../src/lib/shares.ts';
import { networkOf } from '../../../src/server/connections.ts';

/** Returns the network with most clients, by the addresses of its members. */
function largest(addresses: readonly string[], newcomer: string | undefined) {
  return largestShare(addresses, networkOf, networkOf(newcomer));
}

describe('the per-network limit', () => {
  it('selects the network with most members, and evicts one in favour of a smaller network', () => {
    const all = ['192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.2'];

    expect(largest(all, '192.0.2.9')).toEqual({
      members: ['192.0.2.2', '192.0.2.2', '192.0.2.2'],
      mayEvict: true,
    });
    expect(largest(all, '192.0.2.1').mayEvict).toBe(true);
    expect(largest(all, '192.0.2.2').mayEvict).toBe(false);
    expect(largest(['192.0.2.2'], '192.0.2.1').mayEvict).toBe(false);
  });

  it('counts all addresses of one IPv6 network as one', () => {
    const all = ['192.0.2.1', '2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8:0:1::1', '2001:db8::ffff:1:2'];

    expect(largest(all, undefined).members).toEqual(['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8::ffff:1:2']);
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
