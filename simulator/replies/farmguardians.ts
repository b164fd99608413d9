import { flag, type Handlers, named, read } from '../call.ts';
import { inListOrder } from '../world-farms.ts';
import { type Farmguardian, hasApi402, type World } from '../world.ts';

/** Health checks and their links to farms and services (docs/api.md §3.14, §4.5). */
export const farmguardianHandlers: Handlers = {
  'GET /monitoring/fg': ({ world }) => read([...world.farmguardians.values()].map((check) => view(world, check))),

  'GET /monitoring/fg/{name}': (call) => read(view(call.world, named(call, call.world.farmguardians, 'name'))),
};

/** Returns the uses of a health check: `<farm>` for L4xNAT and `<farm>_<service>` for HTTP. */
function linksOf(world: World, name: string): readonly string[] {
  return inListOrder(world.farms.values())
    .flatMap((farm) => {
      if (farm.profile === 'l4xnat') return farm.farmguardian === name ? [farm.name] : [];
      if (!('services' in farm)) return [];
      return farm.services.filter((service) => service.farmguardian === name).map(({ id }) => `${farm.name}_${id}`);
    })
    .sort();
}

function view(world: World, check: Farmguardian) {
  return {
    ...check,
    // It came with 4.0.2.
    timeout: hasApi402(world) ? check.timeout : undefined,
    template: flag(check.template),
    farms: linksOf(world, check.name),
  };
}
