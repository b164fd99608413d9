import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns all values of a query parameter. */
export function valuesOf(request: FastifyRequest, name: string): string[] {
  const value = (request.query as Record<string, string | string[] | undefined>)[name];
  return value === undefined ? [] : [value].flat();
}

/**
 * Sends 404 for an appliance that is not watched here; `shard` is the index of the shard that
 * watches it.
 */
export function sendUnknownAppliance(reply: FastifyReply, shard: number | undefined): FastifyReply {
  return reply
    .code(404)
    .type('text/plain; charset=utf-8')
    .send(`${unknownApplianceMessage(shard)}\n`);
}

export function unknownApplianceMessage(shard: number | undefined): string {
  return shard === undefined
    ? 'No appliance of that name is configured; / lists them.'
    : `That appliance belongs to shard ${shard}; ask the exporter that runs with --shard=${shard}/….`;
}
