import type { Static } from 'typebox';
import type { FarmsSummaryReply } from './schemas.ts';

declare const harmless: unique symbol;

/**
 * The name of a farm that may stand in a read which acts on L4 farms (docs/api.md §1.7): a farm of
 * another profile, or one that is asked for on purpose.
 */
export type SafeFarmName = string & { readonly [harmless]: true };

const harmlessProfiles: readonly string[] = ['http', 'https', 'eproxy', 'gslb', 'datalink'];

/** Returns the name of a farm that is not an L4 farm; undefined for one, and for an unknown profile. */
export function safeFarmName(name: string, profile: string | null | undefined): SafeFarmName | undefined {
  return harmlessProfiles.includes(profile ?? '') ? (name as SafeFarmName) : undefined;
}

/** Returns the name of any farm, for what a person orders and for nothing else. */
export function onPurpose(name: string): SafeFarmName {
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

/** Returns true if a summary says that a farm is not an L4 farm; the API refuses one that it lacks. */
export function isHarmless(summary: Static<typeof FarmsSummaryReply>, farm: string): boolean {
  const profiles = profilesIn(summary);
  return profiles !== undefined && (!profiles.has(farm) || safeFarmName(farm, profiles.get(farm)) !== undefined);
}
