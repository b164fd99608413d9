import { type Call, created, done, type Handlers, refuse, type Reply } from '../call.ts';
import {
  anyText,
  checkParameters,
  each,
  type Input,
  type Model,
  natural,
  type Parameter,
  required,
  setNumbers,
  setTexts,
  text,
  yesNo,
} from '../parameters.ts';
import { type Farm, farmStatus, type HttpFarm, type L4Farm } from '../world-farms.ts';
import { datalinkFarm, eproxyFarm, gslbFarm, httpFarm, l4Farm } from '../world-parts.ts';
import type { World } from '../world.ts';
import { httpParams } from './farm-views.ts';
import { farmOf, pending } from './find.ts';
import { interfaceOfAddress } from './interfaces.ts';

const farmName: Parameter = {
  nonBlank: true,
  pattern: /^(?!0$)[a-zA-Z0-9-]+$/,
  hint: 'Letters, digits and hyphens.',
  format: 'farm_name',
};

/** Creation, change and removal of farms. */
export const farmChangeHandlers: Handlers = {
  // Creation of farms, copies included (docs/api.md §4.1).
  'POST /farms': createFarm,

  // Changes and removal of farms (docs/api.md §4.1).
  'PUT /farms/{farmname}': (call) => {
    const farm = farmOf(call);
    return farm.profile === 'http' ? changeHttp(call, farm) : changeLive(call, farm);
  },

  'DELETE /farms/{farmname}': (call) => {
    const { name: farm } = farmOf(call);
    call.world.farms.delete(farm);
    return done(`The farm ${farm} is gone.`);
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
  world.farms.set(farmname, source ? { ...structuredClone(source), name: farmname, vip, vport, running } : farm);
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
      return world.edition === 'enterprise' ? eproxyFarm(parts) : undefined;
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

const texts = ['error414', 'error500', 'error501', 'error503', 'errorWAF', 'cipherc', 'certname'];
const numbers = ['contimeout', 'restimeout', 'reqtimeout', 'resurrectime'] as const;
const flags = [
  'disable_sslv2',
  'disable_sslv3',
  'disable_tlsv1',
  'disable_tlsv1_1',
  'disable_tlsv1_2',
  'logs',
  'ignore_100_continue',
];
const words: Model = {
  rewritelocation: {
    nonBlank: true,
    values: ['disabled', 'enabled', 'enabled-backends', 'enabled-path', 'enabled-backends-path'],
  },
  httpverb: {
    nonBlank: true,
    values: ['standardHTTP', 'extendedHTTP', 'standardWebDAV', 'MSextWebDAV', 'MSRPCext', 'optionsHTTP'],
  },
  listener: { nonBlank: true, values: ['http', 'https'] },
  ciphers: { nonBlank: true, values: ['all', 'highsecurity', 'customsecurity', 'ssloffloading'] },
};
const liveModels: Readonly<Record<Exclude<Farm['profile'], 'http'>, Model>> = {
  l4xnat: {
    algorithm: { nonBlank: true },
    persistence: { values: ['ip', 'srcip', 'srcport', 'srcmac', 'srcip_srcport', 'srcip_dstport', 'none'] },
    protocol: { nonBlank: true },
    nattype: { nonBlank: true, values: ['nat', 'dnat', 'dsr', 'stateless_dnat'] },
    ttl: natural,
    logs: yesNo,
  },
  datalink: { algorithm: { nonBlank: true, values: ['weight', 'prio'] } },
  gslb: {},
  eproxy: {},
};
/** Values of earlier releases. */
const gone = { algorithm: ['prio'], protocol: ['amanda', 'irc', 'netbios-ns', 'sane'] } as const;

function commonModel(world: World): Model {
  return {
    vip: { nonBlank: true, values: addresses(world) },
    vport: { nonBlank: true, pattern: /^(?:\*|[\d:,]+)$/ },
    newfarmname: farmName,
  };
}

function changeHttp(call: Call, farm: HttpFarm): Reply {
  const input = checkParameters(call, {
    ...commonModel(call.world),
    ...words,
    ...each(texts, anyText),
    ...each(numbers, natural),
    ...each(flags, yesNo),
  });
  const renamed = place(call, farm, input);
  setNumbers(farm.settings, input, numbers);
  // The appliance stores the error pages without their last line end (recorded).
  for (const [key, present] of Object.entries(farm.settings))
    if (typeof present === 'string' && key in input)
      Object.assign(farm.settings, { [key]: text(input, key).trimEnd() });
  if ('listener' in input) farm.listener = input['listener'] === 'https' ? 'https' : 'http';
  if ('certname' in input) farm.certificates = [text(input, 'certname')];
  const status = pending(farm);
  return done('The farm is changed.', { params: { ...httpParams(farm), ...renamed }, ...status });
}

/** Changes a farm of any profile but HTTP, also while it runs. The answer repeats the request. */
function changeLive(call: Call, farm: Exclude<Farm, HttpFarm>): Reply {
  const input = checkParameters(call, { ...commonModel(call.world), ...liveModels[farm.profile] });
  for (const [key, values] of Object.entries(gone)) {
    if (values.some((word) => word === input[key])) return refuse(410, `'${text(input, key)}' has been removed.`);
  }
  place(call, farm, input);
  if (farm.profile === 'l4xnat') changeL4(farm, input);
  else if (farm.profile === 'datalink') setTexts(farm, input, ['algorithm']);
  return done('The farm is changed.', { params: input });
}

function changeL4(farm: L4Farm, input: Input): void {
  setTexts(farm, input, ['algorithm', 'protocol', 'nattype']);
  setNumbers(farm, input, ['ttl']);
  const persistence = text(input, 'persistence', farm.persistence);
  farm.persistence = persistence === 'none' ? '' : persistence === 'srcip' ? 'ip' : persistence;
  // Each implies the other (docs/api.md §4.1).
  if (input['vport'] === '*') farm.protocol = 'all';
  if (input['protocol'] === 'all') farm.vport = '*';
}

/** Moves or renames a farm. Only a stopped farm can get a new name. */
function place({ world }: Call, farm: Farm, input: Input): { readonly newfarmname?: string } {
  const next = text(input, 'newfarmname', farm.name);
  if (next !== farm.name) {
    if (farmStatus(farm) !== 'down') refuse(400, 'It must be stopped for a new name.');
    if (world.farms.has(next)) refuse(400, `There is a farm ${next}.`);
    world.farms.delete(farm.name);
    farm.name = next;
    world.farms.set(next, farm);
  }
  setTexts(farm, input, ['vip', 'vport']);
  return 'newfarmname' in input ? { newfarmname: next } : {};
}
