import { param, type Handlers } from '../call.ts';
import { checkParameters, natural, number, required, text } from '../parameters.ts';
import { created, done, read, refuse } from '../reply.ts';
import { l4Sessions } from './farm-views.ts';
import { l4FarmOf } from './find.ts';

const forms: Readonly<Record<string, RegExp>> = {
  ip: /^[\d.]+$/,
  srcport: /^\d+$/,
  srcmac: /^(?:[\da-f]{2}:){5}[\da-f]{2}$/i,
  srcip_srcport: /^[\d.]+_\d+$/,
  srcip_dstport: /^[\d.]+_\d+$/,
};

/** Persistence sessions of L4xNAT farms (Enterprise, 4.0.1; docs/api.md §4.3). */
export const l4SessionHandlers: Handlers = {
  'GET /farms/{farmname}/sessions': (call) => {
    const farm = l4FarmOf(call, 'Sessions of a farm');
    return read('Sessions of a farm', farm.running ? l4Sessions(call.world, farm) : []);
  },

  'POST /farms/{farmname}/sessions': (call) => {
    const description = 'Make a static session';
    const farm = l4FarmOf(call, description, 404);
    const input = checkParameters(call, description, { id: required(natural), session: required({}) });
    const client = text(input, 'session');
    const backend = number(input, 'id', -1);
    if (!farm.backends.some(({ id }) => id === backend)) return refuse(400, description, 'There is no such backend.');
    if (!forms[farm.persistence]?.test(client))
      return refuse(400, description, 'The key does not fit the persistence.');
    farm.sessions.push({ client, backend, type: 'static', ttlMs: null });
    return created(description, 'The session is made.', l4Sessions(call.world, farm).at(-1));
  },

  'DELETE /farms/{farmname}/sessions/{session}': (call) => {
    const description = 'Delete a static session';
    const farm = l4FarmOf(call, description, 404);
    const session =
      farm.sessions.find(({ client }) => client === param(call, 'session')) ??
      refuse(404, description, 'There is no such session.');
    if (session.type === 'dynamic') return refuse(400, description, 'It is dynamic.');
    farm.sessions = farm.sessions.filter((other) => other !== session);
    return done(description, 'The session is gone.');
  },
};
