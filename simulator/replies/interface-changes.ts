import { type Call, created, done, type Handler, type Handlers, param, read, refuse, type Reply } from '../call.ts';
import { anyText, checkParameters, ipv4, list, type Model, required, text, yesNo } from '../parameters.ts';
import { networkInterface } from '../world-parts.ts';
import type { NetworkInterface, World } from '../world.ts';

const addressModel: Model = {
  ip: ipv4,
  netmask: { nonBlank: true },
  gateway: anyText,
  force: { nonBlank: true, values: ['true'] },
  dhcp: yesNo,
  mac: anyText,
};
const kinds = { nic: 'nic', vlan: 'vlan', virtual: 'virtual', bonding: 'bond' } as const;
export type Kind = keyof typeof kinds;

/** Writes to interfaces (docs/api.md §4.6). */
export const interfaceChangeHandlers: Handlers = {
  ...changesOf('nic'),
  ...changesOf('vlan'),
  ...changesOf('virtual'),
  ...changesOf('bonding'),

  'POST /interfaces/vlan': (call) => {
    const description = 'Make a VLAN';
    const input = checkParameters(call, description, { ...addressModel, name: required({ pattern: /^[\w.]{1,13}$/ }) });
    return addInterface(
      call,
      description,
      'vlan',
      text(input, 'name'),
      text(input, 'name').split('.')[0] ?? '',
      text(input, 'ip'),
    );
  },
  'POST /interfaces/virtual': (call) => {
    const description = 'Make a virtual interface';
    const input = checkParameters(call, description, {
      name: required({ pattern: /^[\w.]+:\w+$/ }),
      ip: required(ipv4),
    });
    return addInterface(
      call,
      description,
      'virtual',
      text(input, 'name'),
      text(input, 'name').split(':')[0] ?? '',
      text(input, 'ip'),
    );
  },
};

/** Returns the calls that change, delete and switch an interface of one kind. */
function changesOf(kind: Kind): Handlers {
  const change: Handler = (call) => {
    const description = 'Change an interface';
    const nic = interfaceOf(call, kind, description, kind === 'nic' ? 400 : 404);
    const input = checkParameters(call, description, addressModel);
    const ip = text(input, 'ip', nic.ip);
    if (ip !== nic.ip && isUsed(call.world, nic.ip) && input['force'] !== 'true')
      return refuse(400, description, `${nic.ip} serves farms; this needs force.`);
    for (const farm of call.world.farms.values()) if (farm.vip === nic.ip) farm.vip = ip;
    nic.ip = ip;
    nic.netmask = text(input, 'netmask', nic.netmask);
    nic.gateway = text(input, 'gateway', nic.gateway);
    return done(description, `${nic.name} is changed.`, { params: viewOf(nic) });
  };

  const remove: Handler = (call) => {
    const description = 'Remove an interface';
    const nic = interfaceOf(call, kind, description, 400);
    const hasChildren = [...call.world.interfaces.values()].some(({ parent }) => parent === nic.name);
    if (isUsed(call.world, nic.ip) || hasChildren) return refuse(400, description, `${nic.name} is in use.`);
    // A network card remains; only its configuration is deleted.
    if (kind === 'nic' || kind === 'bonding') nic.ip = nic.netmask = nic.gateway = '';
    else call.world.interfaces.delete(nic.name);
    return done(description, `${nic.name} is removed.`);
  };

  const act: Handler = (call) => {
    const description = 'Switch an interface';
    const nic = interfaceOf(call, kind, description, 404);
    const values = kind === 'bonding' ? ['up', 'down', 'destroy'] : ['up', 'down'];
    const action = text(checkParameters(call, description, { action: required({ values }) }), 'action');
    if (action === 'destroy') {
      if (nic.ip !== '') return refuse(400, description, 'It still has an address.');
      call.world.interfaces.delete(nic.name);
    } else switchTo(call, nic, action === 'up' ? 'up' : 'down', description);
    return done(description, `${nic.name}: ${action}.`, { params: { action } });
  };

  return {
    [`PUT /interfaces/${kind}/{name}`]: change,
    [`DELETE /interfaces/${kind}/{name}`]: remove,
    [`POST /interfaces/${kind}/{name}/actions`]: act,
  };
}

function switchTo({ world }: Call, nic: NetworkInterface, status: 'up' | 'down', description: string): void {
  if (status === 'up' && world.interfaces.get(nic.parent ?? '')?.status === 'down')
    refuse(400, description, 'The interface below it is down.');
  nic.status = status;
  // A network card that goes up takes the interfaces on it with it (docs/api.md §5.7).
  if (status === 'up')
    for (const child of world.interfaces.values()) if (child.parent === nic.name) child.status = 'up';
}

function addInterface(
  { world }: Call,
  description: string,
  type: 'vlan' | 'virtual',
  name: string,
  parent: string,
  ip: string,
): Reply {
  const below = world.interfaces.get(parent) ?? refuse(400, description, `There is no ${parent} to stand on.`);
  if (world.interfaces.has(name)) return refuse(400, description, `There is an interface ${name}.`);
  const made = networkInterface(name, {
    type,
    ip,
    mac: below.mac,
    parent,
    netmask: below.netmask,
    gateway: below.gateway,
  });
  world.interfaces.set(name, made);
  return created(description, `${name} is made.`, { ...viewOf(made), status: 'up' });
}

/** Returns the interface that the path names. Refuses one of another kind. */
function interfaceOf(call: Call, kind: Kind, description: string, otherwise: number): NetworkInterface {
  const nic = call.world.interfaces.get(param(call, 'name'));
  return nic?.type === kinds[kind] ? nic : refuse(otherwise, description, 'There is no such interface.');
}

function isUsed(world: World, ip: string): boolean {
  return ip !== '' && [...world.farms.values()].some(({ vip }) => vip === ip);
}

function viewOf({ name, ip, netmask, gateway, mac }: NetworkInterface) {
  return { name, ip, netmask, gateway, mac };
}

const bondModes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'];

/** Bonds of network cards (Enterprise, docs/api.md §4.6). */
export const bondHandlers: Handlers = {
  'POST /interfaces/bonding': (call) => {
    const description = 'Make a bond';
    const input = checkParameters(call, description, {
      name: required({ pattern: /^\w{1,11}$/ }),
      mode: required({ values: bondModes }),
      slaves: required({ list: true }),
    });
    const name = text(input, 'name');
    const slaves = [...list(input, 'slaves')];
    if (call.world.interfaces.has(name)) return refuse(400, description, `There is an interface ${name}.`);
    call.world.interfaces.set(name, networkInterface(name, { type: 'bond', ip: '', mac: '02:00:5e:00:00:20', slaves }));
    return created(description, 'The bond is made.', {
      name,
      mode: text(input, 'mode'),
      slaves,
      status: 'up',
      mac: '02:00:5e:00:00:20',
    });
  },
  'POST /interfaces/bonding/{name}/slaves': (call) => {
    const description = 'Add a card to a bond';
    const bond = interfaceOf(call, 'bonding', description, 404);
    const slave = text(checkParameters(call, description, { name: required(anyText) }), 'name');
    bond.slaves?.push(slave);
    return created(description, 'The card is added.', { name: bond.name, slaves: bond.slaves });
  },
  'DELETE /interfaces/bonding/{name}/slaves/{slave}': (call) => {
    const description = 'Take a card out of a bond';
    const bond = interfaceOf(call, 'bonding', description, 404);
    const index = bond.slaves?.indexOf(param(call, 'slave')) ?? -1;
    if (index < 0) return refuse(404, description, 'There is no such card in it.');
    bond.slaves?.splice(index, 1);
    return done(description, 'The card is out.');
  },
};

const aliasDescription = 'Names of interfaces';

/** Names that people give to interfaces (Enterprise, docs/api.md §6). */
export const aliasHandlers: Handlers = {
  'GET /aliases/interfaces': ({ world }) =>
    read(
      aliasDescription,
      [...world.interfaces.values()].flatMap(({ name, alias }) => (alias === null ? [] : [{ id: name, alias }])),
    ),

  'POST /aliases/interfaces': (call) => {
    const input = checkParameters(call, aliasDescription, { id: required(anyText), alias: required(anyText) });
    return rename(call, text(input, 'id'), text(input, 'alias'));
  },

  'PUT /aliases/interfaces/{interface}': (call) =>
    rename(
      call,
      param(call, 'interface'),
      text(checkParameters(call, aliasDescription, { alias: required(anyText) }), 'alias'),
    ),

  'DELETE /aliases/interfaces/{interface}': (call) => {
    const nic = interfaceNamed(call, param(call, 'interface'));
    if (nic.alias === null) return refuse(404, aliasDescription, 'It has no name.');
    nic.alias = null;
    return done(aliasDescription, 'The name is gone.');
  },
};

function rename(call: Call, name: string, alias: string) {
  const nic = interfaceNamed(call, name);
  if ([...call.world.interfaces.values()].some((other) => other !== nic && other.alias === alias))
    return refuse(400, aliasDescription, 'The name is taken.');
  nic.alias = alias;
  return done(aliasDescription, 'The name is given.', { params: { id: name, alias } });
}

function interfaceNamed({ world }: Call, name: string): NetworkInterface {
  return world.interfaces.get(name) ?? refuse(404, aliasDescription, `There is no interface ${name}.`);
}
