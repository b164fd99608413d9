import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { eventKinds, maxFound } from '../history/event.ts';
import type { History } from '../history/history.ts';
import { momentOf } from '../lib/time.ts';
import type { SchemaTypes } from './create-app.ts';
import { sendUnknownAppliance } from './status-api.ts';
import { plainText } from './web-access.ts';

const HistoryQuery = Type.Object({
  appliance: Type.Optional(Type.String()),
  farm: Type.Optional(Type.String()),
  /** A duration back from now, `2h`, or a moment in ISO 8601. */
  since: Type.Optional(Type.String()),
  kind: Type.Array(Type.String(), { default: [] }),
  limit: Type.Integer({ minimum: 1, maximum: maxFound, default: 200 }),
});

export interface HistoryApiParts {
  readonly history: Pick<History, 'find'>;
  readonly fleet: { readonly watches: (appliance: string) => boolean };
  readonly shardWatching: (appliance: string) => number | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

/** Registers `GET /api/history`: what changed, the newest first. */
export function registerHistoryApi(
  app: FastifyInstance,
  { history, fleet, shardWatching, log, now }: HistoryApiParts,
): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  routes.get('/api/history', { schema: { querystring: HistoryQuery } }, async (request, reply) => {
    const { appliance, farm, since, kind, limit } = request.query;
    if (appliance !== undefined && !fleet.watches(appliance))
      return sendUnknownAppliance(reply, shardWatching(appliance));
    const sinceMs = since === undefined ? undefined : momentOf(since, now());
    if (Number.isNaN(sinceMs))
      return reply.code(400).type(plainText).send('since is a duration, such as 2h, or a moment in ISO 8601.\n');
    const kinds = eventKinds.filter((each) => kind.includes(each));
    if (kinds.length < new Set(kind).size)
      return reply
        .code(400)
        .type(plainText)
        .send(`kind is one of ${eventKinds.join(', ')}.\n`);
    try {
      return { events: await history.find({ appliance, farm, sinceMs, ...(kinds.length > 0 && { kinds }), limit }) };
    } catch (error) {
      log.error({ err: error }, 'history cannot be read');
      return reply.code(503).type(plainText).send('The history cannot be read; the log of the exporter says why.\n');
    }
  });
}
