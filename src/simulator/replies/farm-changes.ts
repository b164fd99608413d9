import type { Call, Handlers } from '../call.ts';
import { farmStatus } from '../farm-state.ts';
import { anyText, checkParameters, natural, number, text, yesNo, type Input, type Model } from '../parameters.ts';
import { done, refuse, type Reply } from '../reply.ts';
import type { DatalinkFarm, Farm, HttpFarm, L4Farm } from '../world-farms.ts';
import type { World } from '../world.ts';
import { addresses, farmName } from './farm-creation.ts';
import { httpParams } from './farm-views.ts';
import { farmOf } from './find.ts';
import { pending } from './pending.ts';

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
const gone = { algorithm: ['prio'], protocol: ['amanda', 'irc', 'netbios-ns', 'sane'] } as const;

/** Changes and removal of farms (docs/api.md §4.1). */
export const farmChangeHandlers: Handlers = {
  'PUT /farms/{farmname}': (call) => {
    const farm = farmOf(call, 'Change a farm');
    return farm.profile === 'http' ? changeHttp(call, farm) : changeLive(call, farm);
  },

  'DELETE /farms/{farmname}': (call) => {
    const { name: farm } = farmOf(call, 'Delete a farm');
    call.world.farms.delete(farm);
    return done('Delete a farm', `The farm ${farm} is gone.`);
  },
};

function commonModel(world: World): Model {
  return {
    vip: { nonBlank: true, values: addresses(world) },
    vport: { nonBlank: true, pattern: /^(?:\*|[\d:,]+)$/ },
    newfarmname: farmName,
  };
}

function changeHttp(call: Call, farm: HttpFarm): Reply {
  const description = 'Change an HTTP farm';
  const input = checkParameters(call, description, {
    ...commonModel(call.world),
    ...words,
    ...Object.fromEntries(texts.map((key) => [key, anyText])),
    ...Object.fromEntries(numbers.map((key) => [key, natural])),
    ...Object.fromEntries(flags.map((key) => [key, yesNo])),
  });
  const renamed = place(call, farm, input, description);
  for (const key of numbers) farm.settings[key] = number(input, key, farm.settings[key]);
  const { contimeout: _a, restimeout: _b, reqtimeout: _c, resurrectime: _d, ...texty } = farm.settings;
  // The appliance keeps the error pages without the line end they are sent with (recorded).
  for (const key of Object.keys(texty))
    if (key in input) Object.assign(farm.settings, { [key]: text(input, key).trimEnd() });
  if ('listener' in input) farm.listener = input['listener'] === 'https' ? 'https' : 'http';
  if ('certname' in input) farm.certificates = [text(input, 'certname')];
  const status = pending(farm);
  return done(description, 'The farm is changed.', { params: { ...httpParams(farm), ...renamed }, ...status });
}

/** Every profile but HTTP takes changes while it runs; the answer echoes the request. */
function changeLive(call: Call, farm: Exclude<Farm, HttpFarm>): Reply {
  const description = 'Change a farm';
  const own: Model =
    farm.profile === 'l4xnat'
      ? {
          algorithm: { nonBlank: true },
          persistence: { values: ['ip', 'srcip', 'srcport', 'srcmac', 'srcip_srcport', 'srcip_dstport', 'none'] },
          protocol: { nonBlank: true },
          nattype: { nonBlank: true, values: ['nat', 'dnat', 'dsr', 'stateless_dnat'] },
          ttl: natural,
          logs: yesNo,
        }
      : farm.profile === 'datalink'
        ? { algorithm: { nonBlank: true, values: ['weight', 'prio'] } }
        : {};
  const input = checkParameters(call, description, { ...commonModel(call.world), ...own });
  for (const [key, values] of Object.entries(gone)) {
    if (values.some((word) => word === input[key]))
      return refuse(410, description, `'${text(input, key)}' has been removed.`);
  }
  place(call, farm, input, description);
  if (farm.profile === 'l4xnat') changeL4(farm, input);
  else if (farm.profile === 'datalink') changeDatalink(farm, input);
  return done(description, 'The farm is changed.', { params: input });
}

function changeL4(farm: L4Farm, input: Input): void {
  farm.algorithm = text(input, 'algorithm', farm.algorithm);
  farm.protocol = text(input, 'protocol', farm.protocol);
  farm.nattype = text(input, 'nattype', farm.nattype);
  farm.ttl = number(input, 'ttl', farm.ttl);
  const persistence = text(input, 'persistence', farm.persistence);
  farm.persistence = persistence === 'none' ? '' : persistence === 'srcip' ? 'ip' : persistence;
  // Each forces the other (docs/api.md §4.1).
  if (input['vport'] === '*') farm.protocol = 'all';
  if (input['protocol'] === 'all') farm.vport = '*';
}

function changeDatalink(farm: DatalinkFarm, input: Input): void {
  farm.algorithm = text(input, 'algorithm', farm.algorithm);
}

/** Moves or renames a farm; it must stand still for a new name. */
function place({ world }: Call, farm: Farm, input: Input, description: string): { readonly newfarmname?: string } {
  const next = text(input, 'newfarmname', farm.name);
  if (next !== farm.name) {
    if (farmStatus(farm) !== 'down') refuse(400, description, 'It must be stopped for a new name.');
    if (world.farms.has(next)) refuse(400, description, `There is a farm ${next}.`);
    world.farms.delete(farm.name);
    farm.name = next;
    world.farms.set(next, farm);
  }
  farm.vip = text(input, 'vip', farm.vip);
  farm.vport = text(input, 'vport', farm.vport);
  return 'newfarmname' in input ? { newfarmname: next } : {};
}
