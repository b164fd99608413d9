import { ApplianceError } from '../../appliance/errors.ts';
import { type GuardContext, callParam } from './guard.ts';

export interface FarmFacts {
  readonly name: string;
  /** `http` also for HTTPS; '' if unknown. */
  readonly profile: string;
  /** A state of docs/api.md §2.1, or `-1`; '' if unknown. */
  readonly status: string;
}

/**
 * Reads the farm in the path with the two cheapest calls; undefined if the appliance has none of
 * that name.
 */
export async function calledFarm(context: GuardContext): Promise<FarmFacts | undefined> {
  const name = callParam(context, 'farmname');
  const { params: modules } = await context.read('readFarmsSummary', {});
  const listed = [modules.lslb, modules.gslb, modules.dslb]
    .flatMap((farms) => farms ?? [])
    .find((farm) => farm.name === name);
  try {
    const { params } = await context.read('readFarmStatus', { farmname: name });
    return { name, profile: listed?.profile ?? '', status: params.status ?? '' };
  } catch (error) {
    // A listed farm has a status, so this release lacks the call.
    if (!listed && isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Returns true if the API does not know the object: it refuses the call itself, so there is nothing
 * to guard.
 */
export function isMissing(error: unknown): boolean {
  return error instanceof ApplianceError && error.routeMissing;
}
