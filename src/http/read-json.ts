import type { FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Decode } from '../appliance/decode.ts';
import { excessOf } from '../appliance/reply-bounds.ts';
import { type BodyLimits, readBody } from '../gateway/request-body.ts';
import { malformed } from '../requests/read-change.ts';
import type { RequestContext } from './admin-request.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';

/**
 * Reads the JSON body of a request to a path of the gateway itself, within the limits of all
 * bodies. Rejects with an {@link AdminProblem} if it does not fit the schema.
 */
export type ReadJson = <Schema extends TSchema>(request: FastifyRequest, schema: Schema) => Promise<Static<Schema>>;

export interface ReadJsonParts {
  readonly decode: Decode;
  readonly bodyLimits: BodyLimits;
  readonly unfinishedBodies: UnfinishedBodies;
  readonly contextOf: (request: FastifyRequest) => RequestContext;
}

export function createReadJson({ decode, bodyLimits, unfinishedBodies, contextOf }: ReadJsonParts): ReadJson {
  return async <Schema extends TSchema>(request: FastifyRequest, schema: Schema): Promise<Static<Schema>> => {
    const { raw, headers } = request;
    await unfinishedBodies.admit(contextOf(request).principal?.name ?? '', raw);
    const contentLength = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    const body = await readBody('json', { contentType: headers['content-type'], contentLength, body: raw }, bodyLimits);
    const excess = excessOf(String(body?.inMemory ?? ''), Number.POSITIVE_INFINITY);
    if (excess) throw malformed('The body is nested too deep');
    const fields = body?.fields ?? {};
    const checked = decode(schema, fields);
    if (checked.ok) return fields as Static<Schema>;
    throw malformed(checked.because);
  };
}
