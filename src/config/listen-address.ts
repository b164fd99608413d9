import { BlockList, isIPv4, isIPv6 } from 'node:net';

import type { Outcome } from './problems.ts';

const form = /^(?:\[([0-9a-f:.]+)\]|([\w.-]*)):(\d{1,5})$/i;

/** `host:port`, `[IPv6]:port`, or `:port` for every address, as it was written. */
export function listenAddress(text: string): Outcome<string> {
  const [, bracketed, , port] = form.exec(text) ?? [];
  if (port !== undefined && Number(port) <= 65_535 && (bracketed === undefined || isIPv6(bracketed))) {
    return { value: text };
  }
  return { problem: 'must be HOST:PORT such as 127.0.0.1:9445, an IPv6 host in brackets: [::1]:9445' };
}

/** True for a listen address that no other machine can reach. */
export function isLoopback(address: string): boolean {
  const [, bracketed, plain = ''] = form.exec(address) ?? [];
  if (plain.toLowerCase() === 'localhost') return true;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return bracketed === undefined ? isIPv4(plain) && loopback.check(plain) : loopback.check(bracketed, 'ipv6');
}
