import { farmStatus } from '../farm-state.ts';
import type { GslbFarm } from '../world-farms.ts';
import type { World } from '../world.ts';

/** The whole answer of a GSLB farm beside its description. */
export function gslbView(world: World, farm: GslbFarm) {
  return {
    params: { status: farmStatus(farm), vip: farm.vip, vport: Number(farm.vport) },
    services: farm.services.map((service) => ({
      id: service.id,
      algorithm: service.algorithm,
      deftcpport: service.deftcpport,
      farmguardian: service.farmguardian,
      backends: gslbBackends(farm, service),
    })),
    zones: farm.zones,
    ipds: ipdsOf(world, farm.name),
  };
}

/** GSLB backends keep the word `undefined`, and have it all while the farm stands (docs/api.md §2.2). */
export function gslbBackends(farm: GslbFarm, { backends, deftcpport }: GslbFarm['services'][number]) {
  return backends.map(({ id, ip, status }) => ({
    alias: null,
    id,
    ip,
    port: deftcpport,
    status: farm.running ? status : 'undefined',
  }));
}

/** The protection rules linked to a farm, by kind; `waf` is filled for HTTP farms alone. */
export function ipdsOf(world: World, farm: string) {
  const linked = (rule: string) =>
    [...world.ipds.values()]
      .filter((entry) => entry.rule === rule && entry.farms.includes(farm))
      .map(({ name, status }) => ({ name, status }));
  return { dos: linked('dos'), blacklists: linked('blacklist'), rbl: linked('rbl'), waf: linked('waf') };
}
