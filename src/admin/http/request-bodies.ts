import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Decode } from '../../appliance/decode.ts';
import { AdminProblem } from '../policy/problem.ts';
import { type BodyLimits, readBody, type UnreadBody } from '../calls/request-body.ts';
import { malformed } from '../changes/ask.ts';
import { callerOf } from './admin-request.ts';

/** Receives bodies; limits the unfinished ones, each of which holds a connection. */
export interface RequestBodies {
  /**
   * Returns the body of a request, which is not read yet. Rejects with an {@link AdminProblem} if
   * its principal has too many under way.
   */
  admit(request: FastifyRequest): Promise<UnreadBody>;
  /**
   * Reads the JSON body of a request to a path of the gateway itself. Rejects with an
   * {@link AdminProblem} if it does not fit the schema, or with what `onReceived` throws, which
   * gets its bytes before it is parsed.
   */
  readJson<Schema extends TSchema>(
    request: FastifyRequest,
    schema: Schema,
    onReceived?: BodyLimits['onReceived'],
  ): Promise<Static<Schema>>;
}

export const maxPerPrincipal = 32;

export function createRequestBodies(decode: Decode, limits: BodyLimits): RequestBodies {
  // By principal, so the configuration bounds its size.
  const underWay = new Map<string, readonly IncomingMessage[]>();

  async function refuseTooMany(principal: string, request: IncomingMessage): Promise<void> {
    const others = (underWay.get(principal) ?? []).filter(({ complete, socket }) => !complete && !socket.destroyed);
    const isRoom = others.length < maxPerPrincipal;
    underWay.set(principal, isRoom ? [...others, request] : others);
    if (isRoom) return;
    // Node has parsed only the headers; a short body that came with them follows within this tick.
    await setImmediate();
    if (!request.complete) throw tooMany(principal);
  }

  async function admit(request: FastifyRequest): Promise<UnreadBody> {
    const { raw, headers } = request;
    const contentLength = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    const hasBody = headers['transfer-encoding'] !== undefined || (contentLength ?? 0) > 0;
    if (hasBody) await refuseTooMany(callerOf(request).principal.name, raw);
    return { contentType: headers['content-type'], contentLength, body: hasBody ? raw : undefined };
  }

  return {
    admit,
    async readJson(request, schema, onReceived) {
      const body = await readBody('json', await admit(request), { ...limits, onReceived });
      const fields = body?.fields ?? {};
      const checked = decode(schema, fields);
      if (checked.ok) return fields as Static<typeof schema>;
      throw malformed(checked.because);
    },
  };
}

function tooMany(principal: string): AdminProblem {
  return new AdminProblem('too_many_bodies', {
    detail: `${principal} has ${maxPerPrincipal} requests under way whose bodies have not arrived in whole; nothing was sent.`,
    headers: { 'retry-after': '2' },
  });
}
