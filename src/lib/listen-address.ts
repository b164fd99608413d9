import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Parses `host:port`, `[v6]:port`, or `:port` for every address; undefined for any other text. */
export function parseListenAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  return match && port <= 65_535 ? { host: match[1] ?? match[2] ?? '', port } : undefined;
}

/** Returns true for a listen address that no other machine can reach. */
export function isLoopback(address: string): boolean {
  const { host } = parseListenAddress(address) ?? { host: '' };
  if (host.toLowerCase() === 'localhost') return true;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return isIPv6(host) ? loopback.check(host, 'ipv6') : isIPv4(host) && loopback.check(host);
}
