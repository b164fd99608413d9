import { BlockList, isIP, isIPv6 } from 'node:net';

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
  return isIn(blockListOf(['127.0.0.0/8', '::1']), host);
}

/** An IP address, with a port if one was written. */
export interface Endpoint {
  readonly address: string;
  readonly port: number | undefined;
}

/**
 * Parses `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1` or `[2001:db8::1]:443`; undefined for any
 * other text.
 */
export function parseEndpoint(text: string): Endpoint | undefined {
  if (isIP(text) !== 0) return { address: text, port: undefined };
  const [, v6, v4, digits] = /^(?:\[([\da-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const address = v6 ?? v4 ?? '';
  const port = Number(digits);
  const isValid = isIP(address) === (v6 === undefined ? 4 : 6) && port >= 1 && port <= 65_535;
  return isValid ? { address, port } : undefined;
}

/** Writes `192.0.2.1:443` or `[2001:db8::1]:443`; without a port, the address in the same form. */
export function formatEndpoint(host: string, port: string | number | null | undefined): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return (port ?? '') === '' ? bracketed : `${bracketed}:${port}`;
}

/** The addresses that share the first bits of one. */
export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Parses `192.0.2.0/24`, `2001:db8::/32` or a single address; undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', digits] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  const prefix = digits === undefined ? bits : Number(digits);
  return version === 0 || prefix > bits ? undefined : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Returns the list of these networks; other text is left out. */
export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks.map(parseNetwork))
    if (network) list.addSubnet(network.address, network.prefix, network.family);
  return list;
}

/**
 * Returns true for an address in one of these networks; false for text that is none. An IPv4
 * address in the form of IPv6 is in the network of the IPv4 address too.
 */
export function isIn(networks: BlockList, address: string): boolean {
  return networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
