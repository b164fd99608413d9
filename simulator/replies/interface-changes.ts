import { type Call, created, done, type Handler, type Handlers, param, read, refuse, type Reply } from '../call.ts';
import {
  anyText,
  checkParameters,
  ipv4,
  list,
  type Model,
  onlyText,
  required,
  setTexts,
  text,
  yesNo,
} from '../parameters.ts';
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
type Kind = keyof typeof kinds;

/** Writes to interfaces, and their names. */
export const interfaceChangeHandlers: Handlers = {
  // Writes to interfaces (docs/api.md §4.6).
  ...changesOf('nic'),
  ...changesOf('vlan'),
  ...changesOf('virtual'),
  ...changesOf('bonding'),

  'POST /interfaces/vlan': (call) =>
    addInterface(call, 'vlan', '.', { ...addressModel, name: required({ pattern: /^[\w.]{1,13}$/ }) }),
  'POST /interfaces/virtual': (call) =>
    addInterface(call, 'virtual', ':', { name: required({ pattern: /^[\w.]+:\w+$/ }), ip: required(ipv4) }),

  // Bonds of network cards (Enterprise, docs/api.md §4.6).
  'POST /interfaces/bonding': (call) => {
    const input = checkParameters(call, {
      name: required({ pattern: /^\w{1,11}$/ }),
      mode: required({ values: bondModes }),
      slaves: required({ list: true }),
    });
    const name = text(input, 'name');
    const slaves = [...list(input, 'slaves')];
    if (call.world.interfaces.has(name)) return refuse(400, `There is an interface ${name}.`);
    const mac = '02:00:5e:00:00:20';
    call.world.interfaces.set(name, networkInterface(name, { type: 'bond', ip: '', mac, slaves }));
    return created('The bond is made.', { name, mode: text(input, 'mode'), slaves, status: 'up', mac });
  },
  'POST /interfaces/bonding/{name}/slaves': (call) => {
    const bond = interfaceOf(call, 'bonding', 404);
    const slave = onlyText(call, 'name', anyText);
    bond.slaves?.push(slave);
    return created('The card is added.', { name: bond.name, slaves: bond.slaves });
  },
  'DELETE /interfaces/bonding/{name}/slaves/{slave}': (call) => {
    const bond = interfaceOf(call, 'bonding', 404);
    const index = bond.slaves?.indexOf(param(call, 'slave')) ?? -1;
    if (index < 0) return refuse(404, 'There is no such card in it.');
    bond.slaves?.splice(index, 1);
    return done('The card is out.');
  },

  // Names that people give to interfaces (Enterprise, docs/api.md §6).
  'GET /aliases/interfaces': ({ world }) =>
    read([...world.interfaces.values()].flatMap(({ name, alias }) => (alias === null ? [] : [{ id: name, alias }]))),

  'POST /aliases/interfaces': (call) => {
    const input = checkParameters(call, { id: required(anyText), alias: required(anyText) });
    return rename(call, text(input, 'id'), text(input, 'alias'));
  },

  'PUT /aliases/interfaces/{interface}': (call) =>
    rename(call, param(call, 'interface'), onlyText(call, 'alias', anyText)),

  'DELETE /aliases/interfaces/{interface}': (call) => {
    const nic = interfaceNamed(call, param(call, 'interface'));
    if (nic.alias === null) return refuse(404, 'It has no name.');
    nic.alias = null;
    return done('The name is gone.');
  },
};

/** Returns the calls that change, delete and switch an interface of one kind. */
function changesOf(kind: Kind): Handlers {
  const change: Handler = (call) => {
    const nic = interfaceOf(call, kind, kind === 'nic' ? 400 : 404);
    const input = checkParameters(call, addressModel);
    const ip = text(input, 'ip', nic.ip);
    if (ip !== nic.ip && isUsed(call.world, nic.ip) && input['force'] !== 'true')
      return refuse(400, `${nic.ip} serves farms; this needs force.`);
    for (const farm of call.world.farms.values()) if (farm.vip === nic.ip) farm.vip = ip;
    nic.ip = ip;
    setTexts(nic, input, ['netmask', 'gateway']);
    return done(`${nic.name} is changed.`, { params: viewOf(nic) });
  };

  const remove: Handler = (call) => {
    const nic = interfaceOf(call, kind, 400);
    const hasChildren = [...call.world.interfaces.values()].some(({ parent }) => parent === nic.name);
    if (isUsed(call.world, nic.ip) || hasChildren) return refuse(400, `${nic.name} is in use.`);
    // A network card remains; only its configuration is deleted.
    if (kind === 'nic' || kind === 'bonding') nic.ip = nic.netmask = nic.gateway = '';
    else call.world.interfaces.delete(nic.name);
    return done(`${nic.name} is removed.`);
  };

  const act: Handler = (call) => {
    const nic = interfaceOf(call, kind, 404);
    const values = kind === 'bonding' ? ['up', 'down', 'destroy'] : ['up', 'down'];
    const action = onlyText(call, 'action', { values });
    if (action === 'destroy') {
      if (nic.ip !== '') return refuse(400, 'It still has an address.');
      call.world.interfaces.delete(nic.name);
    } else switchTo(call, nic, action === 'up' ? 'up' : 'down');
    return done(`${nic.name}: ${action}.`, { params: { action } });
  };

  return {
    [`PUT /interfaces/${kind}/{name}`]: change,
    [`DELETE /interfaces/${kind}/{name}`]: remove,
    [`POST /interfaces/${kind}/{name}/actions`]: act,
  };
}

function switchTo({ world }: Call, nic: NetworkInterface, status: 'up' | 'down'): void {
  if (status === 'up' && world.interfaces.get(nic.parent ?? '')?.status === 'down')
    refuse(400, 'The interface below it is down.');
  nic.status = status;
  // A network card that goes up takes the interfaces on it with it (docs/api.md §4.6).
  if (status === 'up')
    for (const child of world.interfaces.values()) if (child.parent === nic.name) child.status = 'up';
}

/** Adds an interface whose name begins with that of the interface below it. */
function addInterface(call: Call, type: 'vlan' | 'virtual', separator: string, model: Model): Reply {
  const { interfaces } = call.world;
  const input = checkParameters(call, model);
  const name = text(input, 'name');
  const parent = name.split(separator)[0] ?? '';
  const { mac, netmask, gateway } = interfaces.get(parent) ?? refuse(400, `There is no ${parent} to stand on.`);
  if (interfaces.has(name)) return refuse(400, `There is an interface ${name}.`);
  const made = networkInterface(name, { type, ip: text(input, 'ip'), mac, parent, netmask, gateway });
  interfaces.set(name, made);
  return created(`${name} is made.`, { ...viewOf(made), status: 'up' });
}

/** Returns the interface that the path names. Refuses one of another kind. */
function interfaceOf(call: Call, kind: Kind, otherwise: number): NetworkInterface {
  const nic = call.world.interfaces.get(param(call, 'name'));
  return nic?.type === kinds[kind] ? nic : refuse(otherwise, 'There is no such interface.');
}

function isUsed(world: World, ip: string): boolean {
  return ip !== '' && [...world.farms.values()].some(({ vip }) => vip === ip);
}

function viewOf({ name, ip, netmask, gateway, mac }: NetworkInterface) {
  return { name, ip, netmask, gateway, mac };
}

const bondModes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'];

function rename(call: Call, name: string, alias: string) {
  const nic = interfaceNamed(call, name);
  if ([...call.world.interfaces.values()].some((other) => other !== nic && other.alias === alias))
    return refuse(400, 'The name is taken.');
  nic.alias = alias;
  return done('The name is given.', { params: { id: name, alias } });
}

function interfaceNamed({ world }: Call, name: string): NetworkInterface {
  return world.interfaces.get(name) ?? refuse(404, `There is no interface ${name}.`);
}
