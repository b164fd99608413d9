import { flag, type Handlers, json, param, refuse } from '../call.ts';
import { isNewestCommunity, type NetworkInterface, type World } from '../world.ts';

/**
 * Reads of interfaces (docs/api.md §3.13). Envelopes differ: `interfaces`, `interface`, and
 * `params` for floating addresses and gateways.
 */
export const interfaceHandlers: Handlers = {
  'GET /interfaces': ({ world }) => json(200, { interfaces: sorted(world).map((nic) => listEntry(world, nic)) }),

  'GET /interfaces/virtual': ({ world }) => {
    const found = sorted(world).filter(({ type }) => type === 'virtual');
    return json(200, { interfaces: found.map((nic) => ({ ...view(world, nic), parent: nic.parent ?? '' })) });
  },

  'GET /interfaces/nic/{name}': (call) => {
    const nic = call.world.interfaces.get(param(call, 'name'));
    if (nic?.type === 'nic') return json(200, { interface: view(call.world, nic) });
    if (call.world.edition === 'enterprise') return refuse(404, 'There is no such interface.');
    // Not a 404: the newest Community release prints an interface without a name (recorded).
    const dhcp = call.world.product === 'skudonet' ? { dhcp: 'false' } : {};
    return json(200, { interface: { name: '', ip: '', netmask: '', gateway: '', mac: '', status: 'up', ...dhcp } });
  },
};

/** Returns the interface that has an address. */
export function interfaceOfAddress(world: World, ip: string): NetworkInterface | undefined {
  return [...world.interfaces.values()].find((nic) => nic.ip === ip);
}

/** Returns the kernel's state. A virtual interface is down when its parent is. */
export function interfaceStatus(world: World, nic: NetworkInterface): 'up' | 'down' {
  const parent = world.interfaces.get(nic.parent ?? '');
  return parent && interfaceStatus(world, parent) === 'down' ? 'down' : nic.status;
}

function view(world: World, nic: NetworkInterface) {
  const { name, ip, netmask, gateway, mac, alias } = nic;
  const isCluster = world.cluster?.interface === name;
  const dhcp = world.product === 'skudonet' && nic.type === 'nic' ? { dhcp: nic.gateway === '' ? 'false' : '' } : {};
  const enterprise = world.edition === 'enterprise' && {
    alias,
    dhcp: 'false',
    ...(isCluster && { is_cluster: 'true' }),
  };
  return { name, ip, netmask, gateway, mac, status: interfaceStatus(world, nic), ...dhcp, ...enterprise };
}

function listEntry(world: World, nic: NetworkInterface) {
  const { type } = nic;
  const shown = { ...view(world, nic), type };
  const slave = world.product === 'skudonet' ? {} : { is_slave: 'false' };
  if (type === 'nic') return { ...shown, ...slave, has_vlan: flag(hasVlan(world, nic)) };
  // The newest Community release leaves the status empty for virtual interfaces (recorded).
  return type === 'virtual' && isNewestCommunity(world) ? { ...shown, status: '' } : shown;
}

function sorted(world: World): readonly NetworkInterface[] {
  return [...world.interfaces.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function hasVlan(world: World, { name }: NetworkInterface): boolean {
  return [...world.interfaces.values()].some((nic) => nic.type === 'vlan' && nic.parent === name);
}
