import { collectorFamilies } from '../collectors/registry.ts';
import { changeFamilies } from '../history/configuration-change-counts.ts';
import { twinFamilies } from '../history/twin-watch.ts';
import type { Family } from '../metrics/family.ts';
import { requestFamilies } from '../request-log/counts.ts';
import { pollerFamilies } from '../scheduler/poller-metrics.ts';

/** The metric families of appliances by the part that provides their samples, in their order on a page. */
export const familiesByPart = {
  collectors: collectorFamilies,
  scheduler: pollerFamilies,
  requestLog: requestFamilies,
  history: [...changeFamilies, ...twinFamilies],
} as const;

export const applianceFamilies: readonly Family[] = Object.values(familiesByPart).flat();
