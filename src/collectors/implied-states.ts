import { type Farm, isHttp } from '../appliance/farm.ts';
import type { FarmBackends } from './backends.ts';
import { areAllChecked, type FarmConfig } from './farm-config.ts';

/**
 * Returns true while the state of a farm implies all that a reading of its backends says: that they
 * are all up. It does not tell that the list has changed. So the list must be that of the
 * configuration, where that is known.
 */
export function stateImpliesAllUp(
  farm: Farm,
  { backends }: Pick<FarmBackends, 'backends'>,
  config: FarmConfig | undefined,
): boolean {
  if (!stateImpliesBackends(farm, config) || !backends?.every((backend) => backend.state === 'up')) return false;
  return hasSameList(backends, config?.backends);
}

/**
 * Returns true for a farm whose state implies that each of its backends is up (docs/api.md §2.1). An
 * L4 farm needs a health check: without one, its backends are always up.
 */
export function stateImpliesBackends(
  { state, profile, isSilent }: Farm,
  config: Pick<FarmConfig, 'checks'> | undefined,
): boolean {
  if (state !== 'up' || isSilent) return false;
  return profile === 'l4xnat' ? config !== undefined && areAllChecked(config.checks) === true : isHttp(profile);
}

type Named = Pick<NonNullable<FarmBackends['backends']>[number], 'service' | 'backend'>;

/** Returns true for two lists with the same backends, in any order, or if one is not known. */
function hasSameList(read: readonly Named[], configured: readonly Named[] | undefined): boolean {
  if (!configured) return true;
  const backendKey = ({ service, backend }: Named): string => `${service}\n${backend}`;
  const keys = new Set(read.map(backendKey));
  return keys.size === configured.length && configured.every((each) => keys.has(backendKey(each)));
}
