import { formatEndpoint } from '../lib/address.ts';
import type { Proxy } from './http-proxy.ts';
import { stateWord } from '../lib/states.ts';

export interface FarmRow {
  readonly farmname: string;
  readonly profile?: string | null;
  readonly status?: string | null;
  readonly vip?: string | null;
  readonly vport?: string | null;
}

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
  /** When the appliance was last asked for it alone, in Unix milliseconds; of a silent farm. */
  readonly askedMs?: number | undefined;
  /** Files that it presents; absent where that was not read. */
  readonly certificates?: readonly string[] | undefined;
  /** The program of its HTTP proxy; absent if the appliance does not report it. */
  readonly proxy?: Proxy | undefined;
}

export function farmOf({ farmname, profile, status, vip, vport }: FarmRow): Farm {
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
