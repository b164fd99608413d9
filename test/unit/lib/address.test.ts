import { describe, expect, it } from 'vitest';
import { formatEndpoint, parseEndpoint, parseNetwork } from '../../../src/lib/address.ts';

describe('an address with or without a port', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', undefined],
    ['192.0.2.1:443', '192.0.2.1', 443],
    ['2001:db8::1', '2001:db8::1', undefined],
    ['[2001:db8::1]:443', '2001:db8::1', 443],
  ])('is parsed from %s', (text, address, port) => {
    expect(parseEndpoint(text)).toEqual({ address, port });
  });

  it.each(['192.0.2.1:443', '[2001:db8::1]:443'])('is written as it is read: %s', (text) => {
    const { address = '', port } = parseEndpoint(text) ?? {};

    expect(formatEndpoint(address, port)).toBe(text);
  });

  it.each([
    '',
    ...'lb.example.org 192.0.2 192.0.2.1: 192.0.2.1:0 192.0.2.1:65536 [192.0.2.1]:443'.split(' '),
    ...'[::1]'.split(' '),
  ])('is refused as %j', (text) => {
    expect(parseEndpoint(text)).toBeUndefined();
  });
});

describe('a network', () => {
  it.each([
    ['192.0.2.0/24', { address: '192.0.2.0', prefix: 24, family: 'ipv4' }],
    ['192.0.2.1', { address: '192.0.2.1', prefix: 32, family: 'ipv4' }],
    ['2001:db8::/32', { address: '2001:db8::', prefix: 32, family: 'ipv6' }],
    ['::1', { address: '::1', prefix: 128, family: 'ipv6' }],
  ])('is parsed from %s', (text, network) => {
    expect(parseNetwork(text)).toEqual(network);
  });

  it.each(['', '192.0.2.0/33', '2001:db8::/129', '192.0.2.0/', '192.0.2/24', 'any'])('is refused as %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});
