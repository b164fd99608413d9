import { ApplianceError } from '../../appliance/errors.ts';
import { type GuardContext, callParam } from './guard.ts';

export interface FarmFacts {
  readonly name: string;
  /** `http` also for HTTPS; empty when the appliance does not say. */
  readonly profile: string;
  /** A word of docs/api.md §2.1, or `-1`; empty when the appliance does not say. */
  readonly status: string;
}

/** The farm in the path, by the two cheapest reads; undefined when the appliance has none of that name. */
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
    // A farm that is listed has a status, so then it is the release that lacks the call.
    if (!listed && isMissing(error)) return undefined;
    throw error;
  }
}

/** True for what the API itself does not know: it refuses the call as well, so that there is nothing to guard. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApplianceError && error.routeMissing;
}
