import type { Reply } from '../appliance/client.ts';
import { gauge } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { type ApplianceCollector, farmAreas } from './collector.ts';

const source = '(GET /farms/modules/summary)';
const farms = gauge('zlb_farms', `Farms by profile; HTTPS farms count as http ${source}.`, ['profile']);
const services = gauge('zlb_farm_services', `Services of an HTTP or GSLB farm ${source}.`, ['farm']);

type Modules = Reply<'readFarmsSummary'>['params'];

/** Which profiles a module of the product holds; with the module listed, none of a profile is a true 0. */
const profilesOfModule = { lslb: ['http', 'l4xnat'], gslb: ['gslb'], dslb: ['datalink'] } as const;

/** The cheapest inventory. It has no status at all, and none is made up (WIRE.md §3.8). */
export const summary: ApplianceCollector = {
  name: 'summary',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  touchedBy: farmAreas,
  families: [farms, services],
  async collect({ read, watches, facts }) {
    const modules = (await read('readFarmsSummary', {})).params;
    const { lslb, gslb, dslb } = modules;
    // By name: what else a release puts there was not decoded.
    const names = [lslb, gslb, dslb].flatMap((list) => list ?? []).filter((farm) => watches(farm.name));
    return {
      expose: (emit) => exposeSummary(modules, watches, emit),
      // Only while the farms collector does not know them with their states.
      ...(facts.farms?.some(({ status }) => status !== '')
        ? {}
        : { facts: { farms: names.map(({ name, profile }) => ({ name, profile: profile ?? '', status: '' })) } }),
    };
  },
};

function exposeSummary(modules: Modules, watches: (farm: string) => boolean, emit: Emit): void {
  const counts = new Map<string, number>();
  for (const [module, profiles] of Object.entries(profilesOfModule)) {
    const list = modules[module as keyof Modules];
    if (!list) continue;
    for (const profile of profiles) counts.set(profile, counts.get(profile) ?? 0);
    for (const farm of list.filter(({ name }) => watches(name))) {
      const profile = farm.profile ?? 'unknown';
      counts.set(profile, (counts.get(profile) ?? 0) + 1);
      emit.sample(services, { farm: farm.name }, farm.services?.length);
    }
  }
  for (const [profile, count] of counts) emit.sample(farms, { profile }, count);
}
