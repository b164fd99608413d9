import { applianceFamilies } from '../src/app/appliance-families.ts';
import type { Family, StateSet } from '../src/metrics/family.ts';

/** The families of appliances by name. */
export const families: ReadonlyMap<string, Family> = new Map(applianceFamilies.map((family) => [family.name, family]));

export function isStateSet(family: Family): family is StateSet {
  return 'states' in family;
}

/** Returns a set of states; throws if the metric is something else. */
export function stateSetOf(metric: string): StateSet {
  const family = families.get(metric);
  if (!family || !isStateSet(family)) throw new Error(`${metric} is not a set of states`);
  return family;
}
