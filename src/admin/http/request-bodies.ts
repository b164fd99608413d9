import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { TokenBuckets } from '../../lib/token-bucket.ts';
import { decode } from '../../appliance/decode.ts';
import { AdminProblem, malformedBody } from '../policy/problem.ts';
import type { BodyKind } from '../../appliance/api/row.ts';
import {
  type BodyLimits,
  type BodyQuota,
  readRequestBody,
  type RequestBody,
  type UnreadBody,
} from '../calls/request-body.ts';
import { callerOf } from './admin-request.ts';

/**
 * Receives bodies; limits the unfinished ones, each of which holds a connection, and the bytes of
 * those in memory.
 */
export type RequestBodies = ReturnType<typeof createRequestBodies>;

export const maxPerPrincipal = 32;
/** Bodies in memory of a token, at once and every minute; certificates have a few kilobytes. */
export const bytesPerMinute = 4_194_304;

export function createRequestBodies(limits: BodyLimits) {
  // By principal, so the configuration bounds its size.
  const underWay = new Map<string, readonly IncomingMessage[]>();
  const buckets = TokenBuckets.perMinute(bytesPerMinute);

  async function assertFewUploads(principal: string, request: IncomingMessage): Promise<void> {
    const others = (underWay.get(principal) ?? []).filter(({ complete, socket }) => !complete && !socket.destroyed);
    const isRoom = others.length < maxPerPrincipal;
    underWay.set(principal, isRoom ? [...others, request] : others);
    if (isRoom) return;
    // Node has parsed only the headers; a short body that came with them follows within this tick.
    await setImmediate();
    if (!request.complete) throw tooMany(principal);
  }

  function quotaOf(principal: string): BodyQuota {
    const refuse = (bytes: number): void => {
      const seconds = buckets.secondsUntil(principal, bytes);
      if (seconds > 0) throw tooManyBytes(principal, seconds);
    };
    return {
      reserve(bytes) {
        // A body of unknown length needs some room.
        refuse(Math.max(1, bytes));
        buckets.take(principal, bytes);
      },
      charge(bytes) {
        buckets.take(principal, bytes);
        refuse(0);
      },
    };
  }

  /**
   * Returns the body of a request, which is not read yet. Rejects with an {@link AdminProblem} if
   * its principal has too many under way.
   */
  async function acceptBody(request: FastifyRequest): Promise<UnreadBody> {
    const { raw, headers } = request;
    const contentLength = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    const hasBody = headers['transfer-encoding'] !== undefined || (contentLength ?? 0) > 0;
    const contentType = headers['content-type'];
    if (!hasBody) return { contentType, contentLength, body: undefined };
    const { name } = callerOf(request).principal;
    await assertFewUploads(name, raw);
    return { contentType, contentLength, body: raw, quota: quotaOf(name) };
  }

  /**
   * Reads the body that an operation takes; a file is not read yet. Rejects with an
   * {@link AdminProblem} for another body.
   */
  async function read(request: FastifyRequest, kind: BodyKind): Promise<RequestBody | undefined> {
    return await readRequestBody(kind, await acceptBody(request), limits);
  }

  return {
    read,
    /**
     * Reads the JSON body of a request to a path of the gateway itself. Rejects with an
     * {@link AdminProblem} if it does not fit the schema.
     */
    async readJson<Schema extends TSchema>(request: FastifyRequest, schema: Schema): Promise<Static<Schema>> {
      const body = await read(request, 'json');
      const fields = body?.fields ?? {};
      const fault = decode(schema, fields);
      if (fault) throw malformedBody(fault.because);
      return fields as Static<Schema>;
    },
  };
}

function tooMany(principal: string): AdminProblem {
  return new AdminProblem('too_many_bodies', {
    detail: `${principal} has ${maxPerPrincipal} requests under way whose bodies have not arrived in whole; nothing was sent.`,
    headers: { 'retry-after': '2' },
  });
}

function tooManyBytes(principal: string, seconds: number): AdminProblem {
  return new AdminProblem('too_many_bytes', {
    detail: `${principal} sends more than ${bytesPerMinute} bytes a minute in bodies that are not files; nothing was sent.`,
    headers: { 'retry-after': String(seconds) },
  });
}
