import type { ReplyOf } from './client.ts';

/** `zproxy` has a routing policy in each service, and `pound` has none (docs/api.md §7). */
export type Proxy = 'pound' | 'zproxy';

/** Returns the proxy of an HTTP farm; undefined of one without a service, and of others. */
export function proxyOf(profile: string, { services }: Pick<ReplyOf<'readFarm'>, 'services'>): Proxy | undefined {
  const [first] = services ?? [];
  if (!first || !isHttp(profile)) return undefined;
  return typeof first.routingpolicy === 'string' ? 'zproxy' : 'pound';
}

/** Returns true for the profile of a farm whose state the appliance asks a proxy for. */
export function hasProxy(profile: string): boolean {
  return isHttp(profile) || profile === 'eproxy';
}

/** Returns true for a farm of the HTTP proxy, whose backends belong to services. */
export function isHttp(profile: string): boolean {
  return profile === 'http' || profile === 'https';
}
