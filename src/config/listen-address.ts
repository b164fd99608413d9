import { BlockList, isIPv4, isIPv6 } from 'node:net';

import { parseListenAddress } from '../lib/listen-address.ts';
import type { Outcome } from './problems.ts';

/** `host:port`, `[IPv6]:port`, or `:port` for every address, as it was written. */
export function listenAddress(text: string): Outcome<string> {
  const address = parseListenAddress(text);
  if (address && (!text.startsWith('[') || isIPv6(address.host))) return { value: text };
  return { problem: 'must be HOST:PORT such as 127.0.0.1:9445, an IPv6 host in brackets: [::1]:9445' };
}

/** True for a listen address that no other machine can reach. */
export function isLoopback(address: string): boolean {
  const { host } = parseListenAddress(address) ?? { host: '' };
  if (host.toLowerCase() === 'localhost') return true;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return isIPv6(host) ? loopback.check(host, 'ipv6') : isIPv4(host) && loopback.check(host);
}
