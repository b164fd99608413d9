import { stateWord } from '../../lib/states.ts';
import type { ReplyOf } from '../../appliance/client.ts';
import { addressOf, type Farm, farmOf, type KnownFarm } from '../../appliance/farm.ts';
import { type SafeFarmName, profilesIn, safeFarmName } from '../../appliance/safe-farm-name.ts';
import { adminCommand } from '../../lib/text.ts';
import { AdminError, refusal } from '../policy/admin-error.ts';
import { LateError } from './calls.ts';
import type { RecipeContext } from './recipe.ts';

/** A proxy answers within this time, or hangs; the appliance itself waits for it for 20 s. */
const proxyAnswersMs = 3_000;
/** The same for the list of farms, which waits for each proxy that hangs. */
const listMs = 2_000;

/**
 * Finds a farm by the summary, which asks no proxy, and its own status. The exporter knows its
 * address from its last reading; otherwise the list of all has it, which is not waited for while a
 * proxy hangs.
 */
export async function findFarm(context: Pick<RecipeContext, 'calls' | 'knownFarms'>, name: string): Promise<KnownFarm> {
  const { calls, knownFarms } = context;
  const profiles = profilesIn(await calls.read('readFarmsSummary', {}));
  const listed = profiles?.get(name);
  if (listed === undefined) {
    throw new AdminError(`${calls.appliance} has no farm ${name}`, {
      detail: `Its farms are ${[...(profiles?.keys() ?? [])].join(', ') || 'none'}.`,
      remedy: 'Check farm=…; names are case-sensitive.',
    });
  }
  const known = knownFarms()?.find((farm) => farm.name === name);
  const { profile = listed, vip, vport, isSilent, askedMs } = known ?? {};
  // A read of it might never end, and would leave a process on the appliance.
  if (isSilent) return { name, profile: profile || listed, state: 'unknown', vip, vport, isSilent, askedMs };
  const found = await rereadFarm(context, { name, profile: vip === undefined ? listed : profile, vip, vport });
  if (vip !== undefined || found.isSilent) return found;
  const list = await undefinedIfLate(calls.read('listFarms', {}, listMs));
  const row = list?.params.find(({ farmname }) => farmname === name);
  return row ? farmOf(row) : found;
}

/** Rejects with an AdminError for a silent farm: what else is read of it may never end. */
export function assertNotSilent({ appliance }: Pick<RecipeContext['calls'], 'appliance'>, farm: Farm): void {
  if (!farm.isSilent) return;
  const restart = adminCommand(appliance, 'restart-farm', `farm=${farm.name}`);
  throw refusal(`The proxy of ${farm.name} does not answer ${appliance}`, `Restart the farm first: ${restart}.`);
}

export async function rereadFarm(
  { calls }: Pick<RecipeContext, 'calls'>,
  { name, profile, vip, vport }: Pick<Farm, 'name' | 'profile' | 'vip' | 'vport'>,
): Promise<Farm> {
  const reply = await undefinedIfLate(calls.read('readFarmStatus', { farmname: name }, proxyAnswersMs));
  return { name, profile, vip, vport, state: stateWord(reply?.params.status), ...(!reply && { isSilent: true }) };
}

async function undefinedIfLate<Reply>(reading: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof LateError) return undefined;
    throw error;
  }
}

/**
 * Resolves to the name for a read with a side effect on L4 farms. Rejects with an AdminError for an L4 farm,
 * and for one whose profile the appliance does not say.
 */
export async function safeFarm({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<SafeFarmName> {
  const profile = profilesIn(await calls.read('readFarmsSummary', {}))?.get(name);
  const safeName = safeFarmName(name, profile);
  if (safeName) return safeName;
  throw refusal(
    `${name} is ${profile ? `a farm of the profile ${profile}` : 'no farm whose profile the appliance says'}`,
    'Its configuration is not read: for an L4 farm that may cut all L4 farms.',
  );
}

/** Returns ` at 192.0.2.20:443`, for a sentence; empty where the address is not known. */
export function addressPhrase(farm: Pick<Farm, 'vip' | 'vport'>): string {
  const address = addressOf(farm);
  return address && ` at ${address}`;
}

/** Reads the status of one farm with the cheapest call (docs/api.md §3.10). */
export async function readFarmStatus({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<string> {
  return stateWord((await calls.read('readFarmStatus', { farmname: name })).params.status);
}

export type BackendRow = Partial<NonNullable<ReplyOf<'readFarmStats'>['backends']>[number]>;

/**
 * Reads the backends of a farm with their health: from its statistics, which also have connections
 * (docs/api.md §3.6), or from the list of an L4 farm, whose statistics may cut all L4 farms (§1.7).
 * Datalink farms have none.
 */
export async function readBackends(
  { calls }: Pick<RecipeContext, 'calls'>,
  { name, profile }: Pick<Farm, 'name' | 'profile'>,
): Promise<readonly BackendRow[]> {
  if (profile === 'datalink') return [];
  const farmname = safeFarmName(name, profile);
  if (farmname) return (await calls.read('readFarmStats', { farmname })).backends ?? [];
  return (await calls.read('listFarmBackends', { farmname: name })).params;
}

/** Returns a status as it reads after "is": `needed_restart` is not such a word. */
export function statusWords(status: string): string {
  return status === 'needed_restart' ? 'waiting for a restart' : status;
}
