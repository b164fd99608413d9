import type { EndpointRow } from '../../appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../appliance/api/table.ts';
import { type Farm, isHttp, type KnownFarm, type Proxy } from '../../appliance/farm.ts';

/** Whether a call makes the appliance call nftlb, the daemon of all L4 farms (docs/api.md §4.8). */
export type L4DaemonUse = 'certain' | 'possible' | 'none';

/**
 * Returns whether a call on a farm uses the daemon of L4 farms: one on an L4 farm does, and one on an
 * HTTP farm where the proxy is zproxy. `proxy` is undefined where nobody says which it is.
 */
export function l4DaemonUse(
  key: EndpointKey,
  { profile }: Pick<Farm, 'profile'>,
  proxy: Proxy | undefined,
): L4DaemonUse {
  const { writeSideEffect }: EndpointRow = endpoints[key];
  if (!writeSideEffect) return 'none';
  if (profile === 'l4xnat') return 'certain';
  if (profile !== '' && !isHttp(profile)) return 'none';
  if (proxy === undefined) return 'possible';
  return proxy === writeSideEffect.with ? 'certain' : 'none';
}

/** Returns the proxy of an appliance: that of any farm, since all have the same. */
export function applianceProxy(farms: readonly KnownFarm[] | undefined): Proxy | undefined {
  return farms?.find(({ proxy }) => proxy !== undefined)?.proxy;
}

/** Returns the farm of a call, by the name in its path or body. */
export function farmOfCall(
  params: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, unknown>>,
  farms: readonly Pick<Farm, 'name' | 'profile'>[] | undefined,
): Pick<Farm, 'name' | 'profile'> {
  const named = typeof fields.farmname === 'string' ? fields.farmname : '';
  const name = params.farmname ?? named;
  const wanted = typeof fields.profile === 'string' ? fields.profile : '';
  return { name, profile: farms?.find((farm) => farm.name === name)?.profile || wanted };
}
