import type { VipSettings } from '../../collectors/collector.ts';
import type { Farm } from '../../appliance/farm.ts';
import { localAddresses } from '../../collectors/vip.ts';
import { type ProbeFailure, probeVip } from '../../collectors/vip-probe.ts';
import { isWanted, type VipTarget, vipTargets } from '../../collectors/vip-targets.ts';
import { formatEndpoint } from '../../lib/address.ts';

/** A farm that the collector `vip` will probe. */
export interface FarmProbe {
  readonly farm: string;
  /** The address that the appliance reports, and the one to which `connect_to` leads instead. */
  readonly address: string;
  /** Undefined if nothing was tried. */
  readonly isReachable: boolean | undefined;
  readonly failure: ProbeFailure | 'not_allowed' | undefined;
  /** True if its proxy does not answer the appliance: the kernel accepts connections for it. */
  readonly isSilent: boolean;
  readonly isL4: boolean;
}

/** Bounds the time of a check to half a minute, whatever the network does. */
const maxFarms = 20;
const maxAtOnce = 3;

/**
 * Connects once, only by TCP, to the first farms that the collector `vip` will probe. L4 farms are
 * left out: the check does not read whether they use TCP.
 */
export async function probeFarms(
  farms: readonly Farm[],
  settings: VipSettings,
  signal: AbortSignal,
): Promise<readonly FarmProbe[]> {
  const known = { farms, configOf: () => undefined, certificates: undefined };
  const targets = vipTargets(known, settings, localAddresses()).filter(({ isUnproven }) => !isUnproven);
  const allowed = targets.filter(({ endpoint }) => endpoint);
  const first = allowed.slice(0, maxFarms);
  const tried: FarmProbe[] = [];
  for (let from = 0; from < first.length; from += maxAtOnce)
    tried.push(...(await Promise.all(first.slice(from, from + maxAtOnce).map((target) => tryOnce(target, signal)))));
  const untried = allowed.slice(maxFarms).map((target) => probeOf(target, undefined));
  const forbidden = targets.filter(({ endpoint }) => !endpoint).map((target) => probeOf(target, 'not_allowed'));
  return [...tried, ...untried, ...forbidden];
}

/** Returns the L4 farms that are probed by default, with their addresses. */
export function l4Probes(farms: readonly Farm[], settings: VipSettings): readonly FarmProbe[] {
  if (!farms.some((farm) => isWanted(farm, settings))) return [];
  const known = { farms, configOf: () => undefined, certificates: undefined };
  return vipTargets(known, settings, localAddresses()).map((target) => probeOf(target, undefined));
}

async function tryOnce(target: VipTarget, signal: AbortSignal): Promise<FarmProbe> {
  if (!target.endpoint) return probeOf(target, 'not_allowed');
  const { isReachable, failure } = await probeVip({ ...target.endpoint, serverName: undefined }, signal);
  return { ...probeOf(target, failure), isReachable };
}

function probeOf({ farm, basis, vip, vport, endpoint }: VipTarget, failure: FarmProbe['failure']): FarmProbe {
  const reported = formatEndpoint(vip, vport);
  const address =
    endpoint === undefined || endpoint.address === vip
      ? reported
      : `${reported} (connect_to ${formatEndpoint(endpoint.address, endpoint.port)})`;
  const { isSilent = false, profile } = basis.listed;
  return { farm, address, isReachable: undefined, failure, isSilent, isL4: profile === 'l4xnat' };
}
