import type { ReplyOf } from '../../appliance/client.ts';
import { type HarmlessFarm, profilesIn, unlessL4 } from '../../appliance/harmless.ts';
import { AdminError, cannot } from '../policy/admin-error.ts';
import type { RecipeContext } from './recipe.ts';

/** A row of the list of farms. */
export interface FarmSummary {
  readonly name: string;
  /** `http`, `https`, `l4xnat`, `gslb`, `datalink`, `eproxy`. */
  readonly profile: string;
  /** `up`, `down`, `needed restart`, `critical`, `problem`, `maintenance` (docs/api.md §2.1). */
  readonly status: string;
  /** `192.0.2.20:443`. */
  readonly address: string;
}

type FarmRow = ReplyOf<'listFarms'>['params'][number];

export async function findFarm({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<FarmSummary> {
  const { params: farms } = await calls.read('listFarms', {});
  const farm = farms.find(({ farmname }) => farmname === name);
  if (!farm) {
    throw new AdminError(`${calls.appliance} has no farm ${name}`, {
      detail: `Its farms are ${farms.map(({ farmname }) => farmname).join(', ') || 'none'}.`,
      remedy: 'Check farm=…; names are case-sensitive.',
    });
  }
  return summaryOf(farm);
}

/**
 * Resolves to the name for a read that acts on L4 farms. Rejects with an AdminError for an L4 farm,
 * and for one whose profile the appliance does not say.
 */
export async function harmlessFarm({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<HarmlessFarm> {
  const profile = profilesIn(await calls.read('readFarmsSummary', {}))?.get(name);
  const harmless = unlessL4(name, profile);
  if (harmless) return harmless;
  throw cannot(
    `${name} is ${profile ? `a farm of the profile ${profile}` : 'no farm whose profile the appliance says'}`,
    'Its configuration is not read: for an L4 farm that may cut all L4 farms.',
  );
}

/** Returns what a row of the list of farms says. */
export function summaryOf({ farmname, profile, status, vip, vport }: FarmRow): FarmSummary {
  return {
    name: farmname,
    profile: profile ?? '',
    status: status ?? '',
    address: `${vip ?? '?'}:${vport ?? '?'}`,
  };
}

/** Reads the status of one farm with the cheapest call (docs/api.md §3.10). */
export async function readFarmStatus({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<string> {
  const { status } = (await calls.read('readFarmStatus', { farmname: name })).params;
  // The number -1 stands for a farm that is neither up nor down (docs/api.md §2.1).
  return status === '-1' ? 'unknown' : (status ?? 'unknown');
}

export type BackendRow = Partial<NonNullable<ReplyOf<'readFarmStats'>['backends']>[number]>;

/**
 * Reads the backends of a farm with their health: from its statistics, which also have connections
 * (docs/api.md §3.6), or from the list of an L4 farm, whose statistics may cut all L4 farms (§1.7).
 * Datalink farms have none.
 */
export async function readBackends(
  { calls }: Pick<RecipeContext, 'calls'>,
  { name, profile }: Pick<FarmSummary, 'name' | 'profile'>,
): Promise<readonly BackendRow[]> {
  if (profile === 'datalink') return [];
  const farmname = unlessL4(name, profile);
  if (farmname) return (await calls.read('readFarmStats', { farmname })).backends ?? [];
  return (await calls.read('listFarmBackends', { farmname: name })).params;
}

/** Returns a status as it reads after "is": the API's `needed restart` is no such word. */
export function statusWords(status: string): string {
  return status === 'needed restart' ? 'waiting for a restart' : status;
}

/** Returns true for a farm of the HTTP proxy, whose backends belong to services. */
export function isHttpFarm({ profile }: FarmSummary): boolean {
  return profile === 'http' || profile === 'https';
}
