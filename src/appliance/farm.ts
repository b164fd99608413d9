import { formatEndpoint } from '../lib/address.ts';
import { stateWord } from '../lib/states.ts';
import type { ReplyOf } from './client.ts';

/** A farm, where it listens, and whether its proxy answers the appliance. */
export interface Farm {
  readonly name: string;
  /** `http`, `https`, `l4xnat`, `gslb`, `datalink`, `eproxy`; empty if the appliance reports none. */
  readonly profile: string;
  /** As {@link stateWord} returns it, such as `up` and `needed_restart` (docs/api.md §2.1). */
  readonly state: string;
  /** Absent while the list of farms waits for a proxy. */
  readonly vip?: string | undefined;
  readonly vport?: string | undefined;
  /** True while its proxy does not answer the appliance in time. */
  readonly isSilent?: boolean;
}

/** A farm with what other reads than the list say of it. */
export interface KnownFarm extends Farm {
  /** When the appliance was last asked for it alone, in Unix milliseconds; of a silent farm. */
  readonly askedMs?: number | undefined;
  /** Files that it presents; absent where that was not read. */
  readonly certificates?: readonly string[] | undefined;
  /** The program of its HTTP proxy; absent if the appliance does not report it. */
  readonly proxy?: Proxy | undefined;
}

/** `zproxy` has a routing policy in each service, and `pound` has none (docs/api.md §7). */
export type Proxy = 'pound' | 'zproxy';

/** Returns a farm of a list. */
export function farmOf({ farmname, profile, status, vip, vport }: ReplyOf<'listFarms'>['params'][number]): Farm {
  return {
    name: farmname,
    profile: profile ?? '',
    state: stateWord(status),
    vip: vip || undefined,
    vport: vport || undefined,
  };
}

/** Returns `192.0.2.20:443` or `[2001:db8::20]:443`; empty where the address is not known. */
export function addressOf({ vip, vport }: Pick<Farm, 'vip' | 'vport'>): string {
  return vip === undefined ? '' : formatEndpoint(vip, vport);
}

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
