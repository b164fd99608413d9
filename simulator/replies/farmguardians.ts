import { type Call, done, flag, type Handlers, named, param, read, refuse, type Reply } from '../call.ts';
import {
  anyText,
  checkParameters,
  type Model,
  natural,
  number,
  onlyText,
  required,
  setNumbers,
  setTexts,
  text,
  yesNo,
} from '../parameters.ts';
import { farmStatus, type HttpFarm, inListOrder, type L4Farm, type Service } from '../world-farms.ts';
import type { Farmguardian, World } from '../world.ts';
import { farmguardian } from '../world-parts.ts';
import { httpFarmOf, l4FarmOf, serviceOf } from './find.ts';

const changeModel: Model = {
  description: anyText,
  command: { nonBlank: true },
  interval: natural,
  timeout: natural,
  cut_conns: yesNo,
  log: yesNo,
  backend_alias: yesNo,
  force: yesNo,
};

/** Health checks and their links to farms and services (docs/api.md §3.14, §4.5). */
export const farmguardianHandlers: Handlers = {
  'GET /monitoring/fg': ({ world }) => read([...world.farmguardians.values()].map((check) => view(world, check))),

  'GET /monitoring/fg/{name}': (call) => read(view(call.world, named(call, call.world.farmguardians, 'name'))),

  'POST /monitoring/fg': (call) => {
    const input = checkParameters(call, {
      name: required({ pattern: /^[\w-]+$/ }),
      copy_from: { nonBlank: true },
    });
    const name = text(input, 'name');
    if (call.world.farmguardians.has(name)) return refuse(400, `There is a health check ${name}.`);
    const source = call.world.farmguardians.get(text(input, 'copy_from'));
    if ('copy_from' in input && !source) return refuse(404, 'There is nothing to copy.');
    const made = farmguardian(name, { ...source, name, template: false });
    call.world.farmguardians.set(name, made);
    return done(`The health check ${name} is made.`, { params: view(call.world, made) });
  },

  'PUT /monitoring/fg/{name}': (call) => {
    const check = named(call, call.world.farmguardians, 'name', 400);
    const input = checkParameters(call, changeModel);
    const touchesCommand = 'command' in input || 'backend_alias' in input;
    if (check.template && ('command' in input || 'description' in input)) return refuse(400, 'A template keeps both.');
    if (touchesCommand && linksOf(call.world, check.name).length > 0 && input['force'] !== 'true')
      return refuse(400, 'It is running; this needs force.');
    setTexts(check, input, ['description', 'command', 'cut_conns', 'log', 'backend_alias']);
    // The timeout equals the interval until it is set itself.
    if (check.timeout === check.interval) check.timeout = number(input, 'interval', check.timeout);
    setNumbers(check, input, ['interval', 'timeout']);
    return done(`The health check ${check.name} is changed.`, { params: view(call.world, check) });
  },

  'DELETE /monitoring/fg/{name}': (call) => {
    const { name, template } = named(call, call.world.farmguardians, 'name');
    if (template) return refuse(400, 'Templates stay.');
    const links = linksOf(call.world, name);
    if (links.length > 0) return refuse(400, `${name} runs in ${links.join(', ')}.`);
    call.world.farmguardians.delete(name);
    return done(`The health check ${name} is gone.`);
  },

  'POST /farms/{farmname}/fg': (call) => link(call, l4FarmOf(call)),
  'POST /farms/{farmname}/services/{service}/fg': (call) => link(call, httpFarmOf(call)),
  'DELETE /farms/{farmname}/fg/{fg}': (call) => unlink(call, l4FarmOf(call)),
  'DELETE /farms/{farmname}/services/{service}/fg/{fg}': (call) => unlink(call, httpFarmOf(call)),
};

/** Returns what has the health check: an L4xNAT farm itself, or a service of an HTTP farm. */
function checked(call: Call, farm: HttpFarm | L4Farm): L4Farm | Service {
  return farm.profile === 'l4xnat' ? farm : serviceOf(call, farm);
}

function link(call: Call, farm: HttpFarm | L4Farm): Reply {
  const target = checked(call, farm);
  const name = onlyText(call, 'name', anyText);
  if (!call.world.farmguardians.has(name)) return refuse(404, `There is no health check ${name}.`);
  if (target.farmguardian !== null) return refuse(400, 'A health check is linked already.');
  target.farmguardian = name;
  return done(`${name} is linked.`, { status: farmStatus(farm) });
}

function unlink(call: Call, farm: HttpFarm | L4Farm): Reply {
  const target = checked(call, farm);
  const name = param(call, 'fg');
  if (target.farmguardian !== name) return refuse(400, `${name} is not linked.`);
  target.farmguardian = null;
  // Backends that it marked down are up again (docs/api.md §4.5).
  for (const backend of target.backends) if (backend.status === 'down') backend.status = 'up';
  return done(`${name} is unlinked.`, { status: farmStatus(farm) });
}

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
    timeout: world.release === 'newest' ? check.timeout : undefined,
    template: flag(check.template),
    farms: linksOf(world, check.name),
  };
}
