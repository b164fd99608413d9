import type { FastifyReply, FastifyRequest } from 'fastify';

/** All values of a name in the query. */
export function valuesOf(request: FastifyRequest, name: string): string[] {
  const value = (request.query as Record<string, string | string[] | undefined>)[name];
  return value === undefined ? [] : [value].flat();
}

/** 404 for an appliance that is not watched here; `shard` is the index of the one that does. */
export function unknownAppliance(reply: FastifyReply, shard: number | undefined): FastifyReply {
  return reply
    .code(404)
    .type('text/plain; charset=utf-8')
    .send(`${strangerInWords(shard)}\n`);
}

export function strangerInWords(shard: number | undefined): string {
  return shard === undefined
    ? 'No appliance of that name is configured; / lists them.'
    : `That appliance belongs to shard ${shard}; ask the exporter that runs with --shard=${shard}/….`;
}
