import type { Farm } from '../appliance/farm.ts';
import { isHttp } from '../appliance/http-proxy.ts';
import type { FarmBackends } from './backends.ts';
import { areAllChecked, type FarmConfig } from './farm-config.ts';

/**
 * Returns true while the word of a farm says all that a reading of its backends does: that they are
 * all up (docs/api.md §2.1). The word does not tell of a change of the list. So it counts only for a list that the
 * farm's configuration, if that is known, has as well, and for L4 farms only with a health check:
 * without one, nobody looks.
 */
export function saysAllUp(
  { state, profile, isSilent }: Farm,
  { backends }: FarmBackends,
  config: FarmConfig | undefined,
): boolean {
  if (state !== 'up' || isSilent || !backends?.every((backend) => backend.state === 'up')) return false;
  if (profile === 'l4xnat') return config !== undefined && areAllChecked(config.checks) === true;
  return isHttp(profile) && hasSameList(backends, config?.backends);
}

type Named = Pick<NonNullable<FarmBackends['backends']>[number], 'service' | 'backend'>;

/** Returns true for two lists with the same backends, in any order, or if one is not known. */
function hasSameList(read: readonly Named[], configured: readonly Named[] | undefined): boolean {
  if (!configured) return true;
  const keyOf = ({ service, backend }: Named): string => `${service}\n${backend}`;
  const keys = new Set(read.map(keyOf));
  return keys.size === configured.length && configured.every((each) => keys.has(keyOf(each)));
}
