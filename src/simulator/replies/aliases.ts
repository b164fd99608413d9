import { param, type Call, type Handlers } from '../call.ts';
import { anyText, checkParameters, required, text } from '../parameters.ts';
import { done, read, refuse } from '../reply.ts';
import type { NetworkInterface } from '../world.ts';

const description = 'Names of interfaces';

/** Names that people give to interfaces (Enterprise, docs/api.md §6). */
export const aliasHandlers: Handlers = {
  'GET /aliases/interfaces': ({ world }) =>
    read(
      description,
      [...world.interfaces.values()].flatMap(({ name, alias }) => (alias === null ? [] : [{ id: name, alias }])),
    ),

  'POST /aliases/interfaces': (call) => {
    const input = checkParameters(call, description, { id: required(anyText), alias: required(anyText) });
    return rename(call, text(input, 'id'), text(input, 'alias'));
  },

  'PUT /aliases/interfaces/{interface}': (call) =>
    rename(
      call,
      param(call, 'interface'),
      text(checkParameters(call, description, { alias: required(anyText) }), 'alias'),
    ),

  'DELETE /aliases/interfaces/{interface}': (call) => {
    const nic = find(call, param(call, 'interface'));
    if (nic.alias === null) return refuse(404, description, 'It has no name.');
    nic.alias = null;
    return done(description, 'The name is gone.');
  },
};

function rename(call: Call, name: string, alias: string) {
  const nic = find(call, name);
  if ([...call.world.interfaces.values()].some((other) => other !== nic && other.alias === alias))
    return refuse(400, description, 'The name is taken.');
  nic.alias = alias;
  return done(description, 'The name is given.', { params: { id: name, alias } });
}

function find({ world }: Call, name: string): NetworkInterface {
  return world.interfaces.get(name) ?? refuse(404, description, `There is no interface ${name}.`);
}
