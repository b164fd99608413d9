import { isIP } from 'node:net';

/** The members of one network, oldest first. */
export interface LargestNetwork<T> {
  readonly members: readonly T[];
  /**
   * True if the newcomer's network would hold fewer members than this one: then this network loses
   * one.
   */
  readonly mayEvict: boolean;
}

export interface NetworkLimitParts<T> {
  /** Oldest first. */
  readonly all: Iterable<T>;
  readonly addressOf: (one: T) => string | undefined;
  /** The address of the next client. */
  readonly newcomer: string | undefined;
}

/** Returns the network that holds most of a limited resource. */
export function largestNetwork<T>({ all, addressOf, newcomer }: NetworkLimitParts<T>): LargestNetwork<T> {
  const networks = Map.groupBy(all, (one) => networkOf(addressOf(one)));
  const members = [...networks.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
  const ofNewcomer = networks.get(networkOf(newcomer))?.length ?? 0;
  return { members, mayEvict: members.length > ofNewcomer + 1 };
}

/**
 * Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address: a machine may own all
 * addresses below them.
 */
export function networkOf(address = ''): string {
  // A dot marks an IPv4 address that is mapped to IPv6.
  if (isIP(address) !== 6 || address.includes('.')) return address;
  const [head = [], tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])].slice(0, 4).join(':');
}
