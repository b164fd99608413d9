import { done, flag, type Handlers, named, read, refuse } from '../call.ts';
import { anyText, checkParameters, natural, number, required, setTexts, text, yesNo } from '../parameters.ts';
import { inListOrder } from '../world-farms.ts';
import { farmguardian } from '../world-parts.ts';
import { type Farmguardian, hasApi402, type World } from '../world.ts';

/** Health checks and their links to farms and services (docs/api.md §3.14, §4.5). */
export const farmguardianHandlers: Handlers = {
  'GET /monitoring/fg': ({ world }) => read([...world.farmguardians.values()].map((check) => view(world, check))),

  'GET /monitoring/fg/{name}': (call) => read(view(call.world, named(call, call.world.farmguardians, 'name'))),

  'POST /monitoring/fg': (call) => {
    const { farmguardians } = call.world;
    const input = checkParameters(call, { name: required({ pattern: /^[\w-]+$/ }), copy_from: anyText });
    const name = text(input, 'name');
    if (farmguardians.has(name)) return refuse(400, `There is a health check ${name}.`);
    farmguardians.set(
      name,
      farmguardian(name, { ...farmguardians.get(text(input, 'copy_from')), name, template: false }),
    );
    return done(`The health check ${name} is made.`, { params: input });
  },

  'PUT /monitoring/fg/{name}': (call) => {
    const check = named(call, call.world.farmguardians, 'name');
    const input = checkParameters(call, changeModel);
    // An interval is the timeout, too.
    check.interval = number(input, 'interval', check.interval);
    check.timeout = number(input, 'timeout', 'interval' in input ? check.interval : check.timeout);
    setTexts(check, input, ['description', 'command', 'cut_conns', 'log', 'backend_alias']);
    return done(`The health check ${check.name} is changed.`, { params: view(call.world, check) });
  },
};

const changeModel = {
  description: anyText,
  command: anyText,
  interval: natural,
  timeout: natural,
  cut_conns: yesNo,
  log: yesNo,
  backend_alias: yesNo,
  force: yesNo,
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
