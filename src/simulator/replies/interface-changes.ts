import { param, type Call, type Handler, type Handlers } from '../call.ts';
import { anyText, checkParameters, ipv4, required, text, yesNo, type Model } from '../parameters.ts';
import { created, done, refuse, type Reply } from '../reply.ts';
import type { NetworkInterface, World } from '../world.ts';
import { networkInterface } from '../world-parts.ts';

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
    return add(
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
    return add(
      call,
      description,
      'virtual',
      text(input, 'name'),
      text(input, 'name').split(':')[0] ?? '',
      text(input, 'ip'),
    );
  },
};

/** Change, delete and switch, the same for every kind of interface. */
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
    return done(description, `${nic.name} is changed.`, { params: view(nic) });
  };

  const remove: Handler = (call) => {
    const description = 'Remove an interface';
    const nic = interfaceOf(call, kind, description, 400);
    const hasChildren = [...call.world.interfaces.values()].some(({ parent }) => parent === nic.name);
    if (isUsed(call.world, nic.ip) || hasChildren) return refuse(400, description, `${nic.name} is in use.`);
    // A card stays; only its configuration goes.
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
    refuse(400, description, 'What it stands on is down.');
  nic.status = status;
  // A card takes what stands on it along (docs/api.md §5.7).
  if (status === 'up')
    for (const child of world.interfaces.values()) if (child.parent === nic.name) child.status = 'up';
}

function add(
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
  return created(description, `${name} is made.`, { ...view(made), status: 'up' });
}

/** The interface named in the path, if it is of the kind. */
export function interfaceOf(call: Call, kind: Kind, description: string, otherwise: number): NetworkInterface {
  const nic = call.world.interfaces.get(param(call, 'name'));
  return nic?.type === kinds[kind] ? nic : refuse(otherwise, description, 'There is no such interface.');
}

function isUsed(world: World, ip: string): boolean {
  return ip !== '' && [...world.farms.values()].some(({ vip }) => vip === ip);
}

function view({ name, ip, netmask, gateway, mac }: NetworkInterface) {
  return { name, ip, netmask, gateway, mac };
}
