import { isIP } from 'node:net';

/** Those of one network, the oldest first. */
export interface Crowd<T> {
  readonly members: readonly T[];
  /** Whether a newcomer would have fewer than they: then it is one of them that has to go. */
  readonly isUnfair: boolean;
}

export interface CrowdParts<T> {
  /** The oldest first. */
  readonly all: Iterable<T>;
  readonly addressOf: (one: T) => string | undefined;
  /** The address of who comes next. */
  readonly newcomer: string | undefined;
}

/** The network that has the most of something of which there is not enough for everybody. */
export function largestCrowd<T>({ all, addressOf, newcomer }: CrowdParts<T>): Crowd<T> {
  const crowds = Map.groupBy(all, (one) => networkOf(addressOf(one)));
  const members = [...crowds.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
  const ofNewcomer = crowds.get(networkOf(newcomer))?.length ?? 0;
  return { members, isUnfair: members.length > ofNewcomer + 1 };
}

/** An IPv4 address; of IPv6 the first 64 bits, as every machine can have as many of the others as it likes. */
export function networkOf(address = ''): string {
  // With a dot it is an IPv4 address in the clothes of IPv6.
  if (isIP(address) !== 6 || address.includes('.')) return address;
  const [head = [], tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])].slice(0, 4).join(':');
}
