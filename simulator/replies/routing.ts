import { type Call, done, type Handlers, named, param, read, refuse } from '../call.ts';
import {
  anyText,
  checkParameters,
  each,
  ipv4,
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
import type { RoutingRule, World } from '../world.ts';

/** Gateways, floating addresses and routing. */
export const routingHandlers: Handlers = {
  // Default gateways and floating addresses (docs/api.md §4.6).
  ...gatewayChangesOf('gateway', 'ipv4'),
  ...gatewayChangesOf('gateway/ipv4', 'ipv4'),
  ...gatewayChangesOf('gateway/ipv6', 'ipv6'),

  'PUT /interfaces/floating/{name}': (call) => {
    const nic = named(call, call.world.interfaces, 'name');
    nic.floatingIp = onlyText(call, 'floating_ip', ipv4);
    return done('The address is set.');
  },
  'DELETE /interfaces/floating/{name}': (call) => {
    const nic = named(call, call.world.interfaces, 'name');
    if (nic.floatingIp === null) return refuse(400, 'It has none.');
    nic.floatingIp = null;
    return done('The address is removed.');
  },

  // Routing of the Enterprise Edition (docs/api.md §6).
  'GET /routing/rules': ({ world }) => read(world.routing.rules),

  'POST /routing/rules': (call) => {
    const input = checkParameters(call, { ...ruleModel, ...each(['from', 'table'], required(anyText)) });
    const { rules } = call.world.routing;
    const [from, table] = [text(input, 'from'), text(input, 'table')];
    if (rules.some((rule) => rule.from === from && rule.table === table)) return refuse(400, 'There is such a rule.');
    const id = 1 + Math.max(0, ...rules.map((rule) => rule.id ?? 0));
    const not = text(input, 'not') === 'true' ? 'true' : 'false';
    const made: RoutingRule = { id, priority: number(input, 'priority', 100), from, table, type: 'user', not };
    rules.push(made);
    return done('The rule is made.', { params: made });
  },

  'PUT /routing/rules/{id}': (call) => {
    const rule = ruleOf(call);
    const input = checkParameters(call, ruleModel);
    setTexts(rule, input, ['from', 'table']);
    setNumbers(rule, input, ['priority']);
    return done('The rule is changed.', { params: rule });
  },

  'DELETE /routing/rules/{id}': (call) => {
    const rule = ruleOf(call);
    call.world.routing.rules = call.world.routing.rules.filter((other) => other !== rule);
    return done('The rule is gone.');
  },

  'GET /routing/tables': ({ world }) => read(tables(world)),
  'GET /routing/tables/{table}': (call) => read(call.world.routing.routes.get(tableOf(call)) ?? []),

  'POST /routing/tables/{table}/routes': (call) => {
    const table = tableOf(call);
    const input = checkParameters(call, routeModel);
    if (!('raw' in input) && !('to' in input)) return refuse(400, 'A destination is needed.');
    const routes = call.world.routing.routes.get(table) ?? [];
    const made = { id: 1 + Math.max(0, ...routes.map((route) => Number(route['id']))), type: 'user', ...input };
    call.world.routing.routes.set(table, [...routes, made]);
    return done('The route is made.', { params: made });
  },

  'PUT /routing/tables/{table}/routes/{id}': (call) => {
    const { route } = routeOf(call);
    Object.assign(route, checkParameters(call, routeModel));
    return done('The route is changed.', { params: route });
  },

  'DELETE /routing/tables/{table}/routes/{id}': (call) => {
    const { table, routes, route } = routeOf(call);
    call.world.routing.routes.set(
      table,
      routes.filter((other) => other !== route),
    );
    return done('The route is gone.');
  },
};

function gatewayChangesOf(path: string, family: 'ipv4' | 'ipv6'): Handlers {
  return {
    [`PUT /interfaces/${path}`]: (call) => {
      const input = checkParameters(call, { address: { nonBlank: true }, interface: { nonBlank: true } });
      const present = call.world.settings.gateway[family];
      const next = {
        address: text(input, 'address') || present.address,
        interface: text(input, 'interface') || present.interface,
      };
      if (next.address === null || next.interface === null)
        return refuse(400, 'Address and interface are both needed.');
      if (!call.world.interfaces.has(next.interface)) return refuse(404, 'There is no such interface.');
      call.world.settings.gateway[family] = next;
      return done('The gateway is set.', { params: next });
    },
    [`DELETE /interfaces/${path}`]: (call) => {
      call.world.settings.gateway[family] = { address: null, interface: null };
      return done('The gateway is removed.');
    },
  };
}

const routeModel: Model = {
  ...each(['raw', 'to', 'interface', 'via', 'source'], { nonBlank: true }),
  priority: { nonBlank: true, interval: [1, 10] },
};
const ruleModel: Model = { from: { nonBlank: true }, table: { nonBlank: true }, priority: natural, not: yesNo };

function tables(world: World): readonly string[] {
  const cards = [...world.interfaces.values()].filter(({ type }) => type !== 'virtual');
  return ['main', ...cards.map(({ name }) => `table_${name}`)];
}

function tableOf(call: Call): string {
  const table = param(call, 'table');
  return tables(call.world).includes(table) ? table : refuse(404, `There is no table ${table}.`);
}

function routeOf(call: Call) {
  const table = tableOf(call);
  const routes = call.world.routing.routes.get(table) ?? [];
  const route = routes.find(({ id }) => String(id) === param(call, 'id')) ?? refuse(404, 'There is no such route.');
  return { table, routes, route };
}

function ruleOf(call: Call): RoutingRule {
  const id = Number(param(call, 'id'));
  return call.world.routing.rules.find((rule) => rule.id === id) ?? refuse(404, 'There is no such rule.');
}
