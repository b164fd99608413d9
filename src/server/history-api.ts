import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { eventKinds, maxFound } from '../history/event.ts';
import type { History } from '../history/history.ts';
import { toError } from '../lib/check.ts';
import { ThrottledLog } from '../lib/throttled-log.ts';
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
  // Texts, since a number could also be written as 1e3.
  limit: Type.String({ default: '200' }),
  before: Type.Optional(Type.String()),
});

const oneToMaxFound = /^(?:[1-9]\d{0,2}|1000)$/;
const nextPattern = /^-?\d{1,15}\.\d{1,15}$/;

export interface HistoryApiParts {
  readonly history: Pick<History, 'findText'>;
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
  const throttledLog = new ThrottledLog(log);
  const routes = app.withTypeProvider<SchemaTypes>();
  routes.get('/api/history', { schema: { querystring: HistoryQuery } }, async (request, reply) => {
    const { appliance, farm, since, kind, limit, before } = request.query;
    const refuse = (because: string): FastifyReply => reply.code(400).type(plainText).send(`${because}\n`);
    if (appliance !== undefined && !fleet.watches(appliance))
      return sendUnknownAppliance(reply, shardWatching(appliance));
    const sinceMs = since === undefined ? undefined : momentOf(since, now());
    if (sinceMs !== undefined && !Number.isFinite(sinceMs))
      return refuse('since is a duration, such as 2h, or a moment in ISO 8601.');
    const kinds = eventKinds.filter((each) => kind.includes(each));
    if (kinds.length < new Set(kind).size) return refuse(`kind is one of ${eventKinds.join(', ')}.`);
    if (!oneToMaxFound.test(limit)) return refuse(`limit is a whole number from 1 to ${maxFound}.`);
    if (before !== undefined && !nextPattern.test(before)) return refuse('before is the next of an answer.');
    const query = { appliance, farm, sinceMs, before, ...(kinds.length > 0 && { kinds }), limit: Number(limit) };
    try {
      return await reply.type('application/json; charset=utf-8').send(await history.findText(query));
    } catch (error) {
      throttledLog.write('error', { err: toError(error) }, 'history cannot be read');
      return reply.code(503).type(plainText).send('The history cannot be read; the log of the exporter says why.\n');
    }
  });
}
