import { collectorFamilies } from '../collectors/registry.ts';
import { historyFamilies } from '../history/families.ts';
import type { Family } from '../metrics/family.ts';
import { requestFamilies } from '../request-log/counts.ts';
import { ownFamilies } from '../scheduler/own-numbers.ts';

/** All families of appliances, in their order on a page. */
export const applianceFamilies: readonly Family[] = [
  ...collectorFamilies,
  ...ownFamilies,
  ...requestFamilies,
  ...historyFamilies,
];
