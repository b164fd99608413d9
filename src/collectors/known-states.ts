import type { Farm } from '../appliance/farm.ts';
import { isHttp } from '../appliance/http-proxy.ts';
import type { FarmBackends } from './backends.ts';
import { areAllChecked, type FarmConfig } from './farm-config.ts';

/**
 * Returns true while the word of a farm says all that a reading of its backends does: that they are
 * all up. The word does not tell of a change of the list. So it counts only for a list that the
 * farm's configuration, if that is known, has as well.
 */
export function saysAllUp(
  fact: Farm,
  { backends }: Pick<FarmBackends, 'backends'>,
  config: FarmConfig | undefined,
): boolean {
  if (!saysStates(fact, config) || !backends?.every((backend) => backend.state === 'up')) return false;
  return hasSameList(backends, config?.backends);
}

/**
 * Returns true for a farm whose word says that each of its backends is up (docs/api.md §2.1); of an
 * L4 farm only with a health check: without one, nobody looks.
 */
export function saysStates(
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
