import { type Handlers, read } from '../call.ts';
import { type Farm, inListOrder } from '../world-farms.ts';
import type { NetworkInterface, World } from '../world.ts';

/** The tree of all objects that have a name. Its leaves are null. */
export const idsHandlers: Handlers = {
  'GET /ids': ({ world }) =>
    read({
      farms: Object.fromEntries(inListOrder(world.farms.values()).map((farm) => [farm.name, farmBranch(farm)])),
      farmguardians: names(world.farmguardians.keys()),
      certificates: names(world.certificates.keys()),
      interfaces: {
        nic: ofType(world, 'nic'),
        vlan: ofType(world, 'vlan'),
        virtual: ofType(world, 'virtual'),
        bonding: world.edition === 'enterprise' ? ofType(world, 'bond') : undefined,
      },
      routing: { tables: names(['main', ...namesOfType(world, 'nic').map((name) => `table_${name}`)]) },
      system: { backup: names(world.backups.keys()), logs: names(world.logs) },
      ...(world.edition === 'enterprise'
        ? { ipds: ipds(world), rbac: { users: names(world.users.keys()), groups: names(world.groups.keys()) } }
        : {}),
    }),
};

function farmBranch(farm: Farm) {
  if (!('services' in farm)) return { services: { default_service: branch(farm) } };
  const services = Object.fromEntries(farm.services.map((service) => [service.id, branch(service)]));
  if (farm.profile !== 'http') return { services };
  return { certificates: names(farm.listener === 'https' ? farm.certificates : ['-1']), services };
}

function branch(part: {
  readonly backends: readonly { readonly id: number }[];
  readonly farmguardian?: string | null;
}) {
  const backends = names(part.backends.map(({ id }) => String(id)));
  return part.farmguardian ? { backends, fg: { [part.farmguardian]: null } } : { backends };
}

function ipds(world: World) {
  const of = (rule: string) =>
    names([...world.ipds.values()].filter((entry) => entry.rule === rule).map(({ name }) => name));
  return { blacklists: of('blacklist'), dos: of('dos'), rbl: of('rbl'), waf: of('waf') };
}

function ofType(world: World, type: NetworkInterface['type']) {
  return names(namesOfType(world, type));
}

function namesOfType(world: World, type: NetworkInterface['type']): readonly string[] {
  return [...world.interfaces.values()].filter((nic) => nic.type === type).map(({ name }) => name);
}

/** Returns a branch of the tree; an empty one is null. */
function names(keys: Iterable<string>): Readonly<Record<string, null>> | null {
  const list = [...keys].sort();
  return list.length === 0 ? null : Object.fromEntries(list.map((key) => [key, null]));
}
