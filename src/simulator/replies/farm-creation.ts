import type { Call, Handlers } from '../call.ts';
import { datalinkFarm, eproxyFarm, gslbFarm, httpFarm, l4Farm } from '../world-parts.ts';
import { checkParameters, required, text, type Parameter } from '../parameters.ts';
import { created, refuse, type Reply } from '../reply.ts';
import type { Farm } from '../world-farms.ts';
import type { World } from '../world.ts';
import { interfaceOfAddress } from './interfaces.ts';

export const farmName: Parameter = {
  nonBlank: true,
  pattern: /^(?!0$)[a-zA-Z0-9-]+$/,
  hint: 'Letters, digits and hyphens.',
  format: 'farm_name',
};

/** Creation of farms, copies included (docs/api.md §4.1). */
export const farmCreationHandlers: Handlers = { 'POST /farms': createFarm };

function createFarm(call: Call): Reply {
  const { world } = call;
  const description = 'Make a farm';
  const profiles = ['http', 'gslb', 'l4xnat', 'datalink', ...(world.release === 'newest' ? ['eproxy'] : [])];
  const source = world.farms.get(text(call.json ?? {}, 'copy_from'));
  const input = checkParameters(call, description, {
    // A copy takes its profile from the source.
    profile: 'copy_from' in (call.json ?? {}) ? { nonBlank: true, values: profiles } : required({ values: profiles }),
    vport: { nonBlank: true, pattern: /^(?:\*|[\d:,]+)$/, hint: 'A port; for L4xNAT also a list, a range or a star.' },
    farmname: required(farmName),
    vip: { required: true, values: addresses(world) },
    copy_from: farmName,
  });
  if ('copy_from' in input && !source) return refuse(404, description, 'There is nothing to copy.');
  const profile = text(input, 'profile', source?.profile);
  const [farmname, vip, vport] = [text(input, 'farmname'), text(input, 'vip'), text(input, 'vport')];
  if (profile !== 'datalink' && vport === '') return refuse(400, description, 'Required and not sent: vport.');
  if (profile !== 'datalink' && !isPort(vport, profile))
    return refuse(400, description, `'vport' is between 1 and 65535.`);
  if (world.farms.has(farmname)) return refuse(400, description, `There is a farm ${farmname}.`);

  const nic = interfaceOfAddress(world, vip)?.name ?? '';
  // It stays down when another farm holds the place (docs/api.md §4.1).
  const running = !isTaken(world, vip, vport);
  const farm = madeFrom(world, profile, { name: farmname, vip, vport: profile === 'datalink' ? nic : vport, running });
  if (!farm) return refuse(400, description, `The farm ${farmname} cannot be made here.`);
  world.farms.set(farmname, source ? { ...structuredClone(source), name: farmname, vip, vport, running } : farm);
  return created(description, `The farm ${farmname} is made.`, {
    farmname,
    profile,
    vip,
    ...(vport === '' ? {} : { vport }),
    interface: nic,
  });
}

/** Whether another running farm serves this address and port. */
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
      return world.edition === 'enterprise' ? eproxyFarm(parts) : undefined;
  }
}

function isPort(vport: string, profile: string): boolean {
  const ports = profile === 'l4xnat' ? vport.split(/[,:]/) : [vport];
  return vport === '*' ? profile === 'l4xnat' : ports.every((port) => Number(port) >= 1 && Number(port) <= 65_535);
}

/** The addresses a farm can have: those of the appliance. */
export function addresses(world: World): readonly string[] {
  return [...world.interfaces.values()].map(({ ip }) => ip).filter((ip) => ip !== '');
}
