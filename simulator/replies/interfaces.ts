import { type Call, flag, type Handlers, json, param, read, refuse } from '../call.ts';
import type { NetworkInterface, World } from '../world.ts';

/**
 * Reads of interfaces (docs/api.md §3.13). Envelopes differ: `interfaces`, `interface`, and
 * `params` for floating addresses and gateways.
 */
export const interfaceHandlers: Handlers = {
  'GET /interfaces': ({ world }) => json(200, { interfaces: sorted(world).map((nic) => listEntry(world, nic)) }),

  'GET /interfaces/nic': ({ world }) => {
    const rows = ofType(world, 'nic').map((nic) => ({
      ...base(nic),
      has_vlan: flag(hasVlan(world, nic)),
      ...enterprise(world, nic),
    }));
    return json(200, { interfaces: rows });
  },
  'GET /interfaces/vlan': ({ world }) => json(200, { interfaces: ofType(world, 'vlan').map(withParent(world)) }),
  'GET /interfaces/virtual': ({ world }) => json(200, { interfaces: ofType(world, 'virtual').map(withParent(world)) }),
  'GET /interfaces/bonding': ({ world }) =>
    json(200, { interfaces: ofType(world, 'bond').map((nic) => bond(world, nic)) }),

  'GET /interfaces/nic/{name}': (call) => {
    const nic = find(call, 'nic');
    // Not a 404: the newest Community release prints an interface without a name (recorded).
    const shown = nic ? base(nic) : { name: '', ip: '', netmask: '', gateway: '', mac: '', status: 'up' };
    if (!nic && call.world.edition === 'enterprise') return refuse(404, 'There is no such interface.');
    return json(200, {
      interface: { ...shown, ...(nic ? enterprise(call.world, nic) : {}) },
    });
  },
  'GET /interfaces/vlan/{name}': (call) => one(call, 'vlan'),
  'GET /interfaces/virtual/{name}': (call) => one(call, 'virtual'),
  'GET /interfaces/bonding/{name}': (call) => {
    const nic = find(call, 'bond') ?? refuse(404, 'There is no such interface.');
    return json(200, { interface: bond(call.world, nic) });
  },

  'GET /interfaces/gateway': ({ world }) => read(world.settings.gateway.ipv4),
  'GET /interfaces/gateway/ipv4': ({ world }) => read(world.settings.gateway.ipv4),
  'GET /interfaces/gateway/ipv6': ({ world }) => read(world.settings.gateway.ipv6),

  'GET /interfaces/floating': ({ world }) =>
    read(
      sorted(world)
        .filter(({ type, ip }) => type !== 'virtual' && ip !== '')
        .map((nic) => floating(world, nic)),
    ),
  'GET /interfaces/floating/{name}': ({ world, params }) => {
    const nic = world.interfaces.get(params['name'] ?? '');
    return read(nic ? floating(world, nic) : null);
  },
};

/** Returns the interface that has an address. */
export function interfaceOfAddress(world: World, ip: string): NetworkInterface | undefined {
  return [...world.interfaces.values()].find((nic) => nic.ip === ip);
}

/**
 * Returns the kernel's state. A virtual interface is down when its parent is (docs/api.md §2.3).
 */
export function interfaceStatus(world: World, nic: NetworkInterface): 'up' | 'down' {
  const parent = world.interfaces.get(nic.parent ?? '');
  return parent && interfaceStatus(world, parent) === 'down' ? 'down' : nic.status;
}

function listEntry(world: World, nic: NetworkInterface) {
  const { type } = nic;
  const flags = type === 'nic' ? { is_slave: flag(isSlave(world, nic)), has_vlan: flag(hasVlan(world, nic)) } : {};
  // The newest Community release leaves it empty for virtual interfaces (recorded).
  const status =
    type === 'virtual' && world.release === 'newest' && world.edition === 'community'
      ? ''
      : interfaceStatus(world, nic);
  return { ...base(nic), status, type, ...flags, ...enterprise(world, nic) };
}

function base({ name, ip, netmask, gateway, mac, status }: NetworkInterface) {
  return { name, ip, netmask, gateway, mac, status };
}

function enterprise(world: World, { alias, name }: NetworkInterface) {
  if (world.edition === 'community') return {};
  return { alias, dhcp: 'false', ...(world.cluster?.interface === name ? { is_cluster: 'true' } : {}) };
}

function withParent(world: World) {
  return (nic: NetworkInterface) => ({
    ...base(nic),
    status: interfaceStatus(world, nic),
    parent: nic.parent ?? '',
    ...enterprise(world, nic),
  });
}

function bond(world: World, nic: NetworkInterface) {
  return {
    ...base(nic),
    ...enterprise(world, nic),
    slaves: (nic.slaves ?? []).map((name) => ({ name })),
    mode: 'active-backup',
  };
}

function one(call: Call, type: NetworkInterface['type']) {
  const nic = find(call, type) ?? refuse(404, 'There is no such interface.');
  return json(200, {
    interface: { ...base(nic), status: interfaceStatus(call.world, nic), ...enterprise(call.world, nic) },
  });
}

function floating(world: World, { name, alias, floatingIp }: NetworkInterface) {
  const carrier = floatingIp === null ? undefined : interfaceOfAddress(world, floatingIp);
  return {
    interface: name,
    interface_virtual: carrier?.name ?? null,
    floating_ip: floatingIp,
    alias,
    floating_alias: carrier?.alias ?? null,
  };
}

function find(call: Call, type: NetworkInterface['type']): NetworkInterface | undefined {
  const nic = call.world.interfaces.get(param(call, 'name'));
  return nic?.type === type ? nic : undefined;
}

function sorted(world: World): readonly NetworkInterface[] {
  return [...world.interfaces.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function ofType(world: World, type: NetworkInterface['type']): readonly NetworkInterface[] {
  return sorted(world).filter((nic) => nic.type === type);
}

function hasVlan(world: World, { name }: NetworkInterface): boolean {
  return [...world.interfaces.values()].some((nic) => nic.type === 'vlan' && nic.parent === name);
}

function isSlave(world: World, { name }: NetworkInterface): boolean {
  return [...world.interfaces.values()].some((nic) => nic.slaves?.includes(name));
}
