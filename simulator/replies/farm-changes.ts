import { type Call, created, done, type Handlers, refuse, type Reply } from '../call.ts';
import { checkParameters, type Parameter, required, text } from '../parameters.ts';
import type { Farm } from '../world-farms.ts';
import { datalinkFarm, gslbFarm, httpFarm, l4Farm } from '../world-parts.ts';
import { touchL4Daemon } from '../l4-daemon.ts';
import type { World } from '../world.ts';
import { farmOf } from './find.ts';
import { interfaceOfAddress } from './interfaces.ts';

const farmName: Parameter = {
  nonBlank: true,
  pattern: /^(?!0$)[a-zA-Z0-9-]+$/,
  hint: 'Letters, digits and hyphens.',
  format: 'farm_name',
};

/** Creation and removal of farms. */
export const farmChangeHandlers: Handlers = {
  // Creation of farms, copies included (docs/api.md §4.1).
  'POST /farms': createFarm,

  // Removal of farms (docs/api.md §4.1).
  'DELETE /farms/{farmname}': (call) => {
    const farm = farmOf(call);
    const unanswered = touchL4Daemon(call.world, farm, false);
    if (unanswered) return unanswered;
    call.world.farms.delete(farm.name);
    return done(`The farm ${farm.name} is gone.`);
  },
};

function createFarm(call: Call): Reply {
  const { world } = call;
  const profiles = ['http', 'gslb', 'l4xnat', 'datalink', ...(world.release === 'newest' ? ['eproxy'] : [])];
  const source = world.farms.get(text(call.json ?? {}, 'copy_from'));
  const input = checkParameters(call, {
    // A copy takes its profile from the source.
    profile: 'copy_from' in (call.json ?? {}) ? { nonBlank: true, values: profiles } : required({ values: profiles }),
    vport: { nonBlank: true, pattern: /^(?:\*|[\d:,]+)$/, hint: 'A port; for L4xNAT also a list, a range or a star.' },
    farmname: required(farmName),
    vip: { required: true, values: addresses(world) },
    copy_from: farmName,
  });
  if ('copy_from' in input && !source) return refuse(404, 'There is nothing to copy.');
  const profile = text(input, 'profile', source?.profile);
  const [farmname, vip, vport] = [text(input, 'farmname'), text(input, 'vip'), text(input, 'vport')];
  if (profile !== 'datalink' && vport === '') return refuse(400, 'Required and not sent: vport.');
  if (profile !== 'datalink' && !isPort(vport, profile)) return refuse(400, `'vport' is between 1 and 65535.`);
  if (world.farms.has(farmname)) return refuse(400, `There is a farm ${farmname}.`);

  const nic = interfaceOfAddress(world, vip)?.name ?? '';
  // It stays down when another farm uses the address and port (docs/api.md §4.1).
  const running = !isTaken(world, vip, vport);
  const farm = madeFrom(world, profile, { name: farmname, vip, vport: profile === 'datalink' ? nic : vport, running });
  if (!farm) return refuse(400, `The farm ${farmname} cannot be made here.`);
  const made = source ? { ...structuredClone(source), name: farmname, vip, vport, running } : farm;
  world.farms.set(farmname, made);
  const unanswered = running && touchL4Daemon(world, made, true);
  if (unanswered) return unanswered;
  return created(`The farm ${farmname} is made.`, {
    farmname,
    profile,
    vip,
    ...(vport === '' ? {} : { vport }),
    interface: nic,
  });
}

/** True if another running farm serves this address and port. */
export function isTaken(world: World, vip: string, vport: string, exceptFor?: Farm): boolean {
  return [...world.farms.values()].some(
    (farm) => farm !== exceptFor && farm.running && farm.vip === vip && farm.vport === vport,
  );
}

function madeFrom(
  world: World,
  profile: string,
  parts: { name: string; vip: string; vport: string; running: boolean },
): Farm | undefined {
  switch (profile) {
    case 'http':
      return httpFarm(parts);
    case 'l4xnat':
      return l4Farm({ ...parts, protocol: parts.vport === '*' ? 'all' : 'tcp' });
    case 'gslb':
      return world.edition === 'enterprise' ? gslbFarm(parts) : undefined;
    case 'datalink':
      return world.edition === 'enterprise' || world.release === 'older' ? datalinkFarm(parts) : undefined;
    default:
      return undefined;
  }
}

function isPort(vport: string, profile: string): boolean {
  const ports = profile === 'l4xnat' ? vport.split(/[,:]/) : [vport];
  return vport === '*' ? profile === 'l4xnat' : ports.every((port) => Number(port) >= 1 && Number(port) <= 65_535);
}

/** Returns the addresses that a farm can have: those of the appliance. */
function addresses(world: World): readonly string[] {
  return [...world.interfaces.values()].map(({ ip }) => ip).filter((ip) => ip !== '');
}
