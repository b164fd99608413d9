import type { ReplyOf } from '../appliance/client.ts';
import { type ApplianceWideCollector, farmAreas } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface FarmsSummary {
  /** Farms that are watched, without their states: the summary has none. */
  readonly farms: readonly SummarizedFarm[];
  /** Farms by profile; a profile whose module the reply lacks is absent. */
  readonly counts: readonly { readonly profile: string; readonly count: number }[];
}

export interface SummarizedFarm {
  readonly name: string;
  readonly profile: string | undefined;
  /** Number of services; undefined if the appliance does not report it. */
  readonly services: number | undefined;
}

const source = '(GET /farms/modules/summary)';
const profileRows = rowsOf((summary: FarmsSummary) => summary.counts, { profile: ({ profile }) => profile });
const farmRows = rowsOf((summary: FarmsSummary) => summary.farms, { farm: ({ name }) => name });

/** The profiles of each module; if a module is listed, a missing profile is a true 0. */
const profilesOfModule = { lslb: ['http', 'l4xnat'], gslb: ['gslb'], dslb: ['datalink'] } as const;

/** The cheapest inventory. It has no status at all, and none is made up (docs/api.md §3.8). */
export const summaryCollector: ApplianceWideCollector<FarmsSummary> = {
  name: 'summary',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  refreshedBy: farmAreas,
  async collect({ read, watches }) {
    return summarize((await read('readFarmsSummary', {})).params, watches);
  },
  families: [
    profileRows.gauge('zlb_farms', `Farms by profile; HTTPS farms count as http ${source}.`, ({ count }) => count),
    farmRows.gauge('zlb_farm_services', `Services of an HTTP or GSLB farm ${source}.`, ({ services }) => services),
  ],
};

type Modules = ReplyOf<'readFarmsSummary'>['params'];

function summarize(modules: Modules, watches: (farm: string) => boolean): FarmsSummary {
  const { lslb, gslb, dslb } = modules;
  const counts = new Map<string, number>();
  const farms: SummarizedFarm[] = [];
  // By name: what else a release puts there was not decoded.
  for (const [module, list] of Object.entries({ lslb, gslb, dslb } as const)) {
    if (!list) continue;
    for (const profile of profilesOfModule[module as keyof typeof profilesOfModule])
      counts.set(profile, counts.get(profile) ?? 0);
    for (const { name, profile, services } of list.filter((farm) => watches(farm.name))) {
      const counted = profile ?? 'unknown';
      counts.set(counted, (counts.get(counted) ?? 0) + 1);
      farms.push({ name, profile: profile ?? undefined, services: services?.length });
    }
  }
  return { farms, counts: [...counts].map(([profile, count]) => ({ profile, count })) };
}
