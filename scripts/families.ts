import { collectorFamilies } from '../src/collectors/registry.ts';
import { historyFamilies } from '../src/history/families.ts';
import type { Family, StateSet } from '../src/metrics/family.ts';
import { ownFamilies } from '../src/scheduler/own-numbers.ts';
import { requestFamilies } from '../src/request-log/counts.ts';

/** The families of appliances by name. */
export const families: ReadonlyMap<string, Family> = new Map(
  [...collectorFamilies, ...ownFamilies, ...requestFamilies, ...historyFamilies].map((family) => [family.name, family]),
);

export function isStateSet(family: Family): family is StateSet {
  return 'states' in family;
}

/** Returns a set of states; throws if the metric is something else. */
export function stateSetOf(metric: string): StateSet {
  const family = families.get(metric);
  if (!family || !isStateSet(family)) throw new Error(`${metric} is not a set of states`);
  return family;
}
