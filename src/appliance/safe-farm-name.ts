import type { Static } from 'typebox';
import type { FarmsSummaryReply } from './schemas.ts';

declare const safe: unique symbol;

/**
 * The name of a farm for a read with a side effect on L4 farms (docs/api.md §1.7): of a farm of
 * another profile, or of one that a person asks for.
 */
export type SafeFarmName = string & { readonly [safe]: true };

const safeProfiles: readonly string[] = ['http', 'https', 'eproxy', 'gslb', 'datalink'];

/** Returns the name of a farm that is not an L4 farm; undefined for one, and for an unknown profile. */
export function safeFarmName(name: string, profile: string | null | undefined): SafeFarmName | undefined {
  return safeProfiles.includes(profile ?? '') ? (name as SafeFarmName) : undefined;
}

/** Returns the name of any farm, only for what a person asks for. */
export function uncheckedFarmName(name: string): SafeFarmName {
  return name as SafeFarmName;
}

/**
 * Returns the profiles of all farms by the one list that reads files alone and never waits (docs/
 * api.md §3.8); undefined if it does not say which L4 farms there are.
 */
export function profilesIn({ params }: Static<typeof FarmsSummaryReply>): ReadonlyMap<string, string> | undefined {
  const { lslb, gslb, dslb } = params;
  if (!lslb) return undefined;
  const named = (farms: typeof lslb | null | undefined, otherwise: string) =>
    (farms ?? []).map(({ name, profile }) => [name, profile ?? otherwise] as const);
  return new Map([...named(gslb, 'gslb'), ...named(dslb, 'datalink'), ...named(lslb, '')]);
}

/** Returns true for a farm that a summary lists with another profile, or lacks: the API refuses that. */
export function isSafeFarm(summary: Static<typeof FarmsSummaryReply>, farm: string): boolean {
  const profiles = profilesIn(summary);
  return profiles !== undefined && (!profiles.has(farm) || safeFarmName(farm, profiles.get(farm)) !== undefined);
}
