import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Gateway } from '../calls/gateway.ts';
import type { Caller, Principal } from '../policy/principal.ts';
import { assertMayWrite } from '../policy/policy.ts';
import { TokenBuckets } from '../../lib/token-bucket.ts';
import { AdminProblem } from '../policy/problem.ts';
import {
  type ChangeEvent,
  type ChangeState,
  changeStates,
  decisionWords,
  openStates,
  type ShownChange,
} from '../changes/change.ts';
import type { Changes } from '../changes/changes.ts';
import type { Proposals } from '../changes/proposals.ts';
import { NotificationSchema } from '../changes/repairs.ts';
import { notApprover } from '../changes/decide.ts';
import { type ChangeRequest, ChangeRequestSchema } from '../changes/task.ts';
import { maxReasonLength } from '../calls/recorder.ts';
import { callerOf, contextOf } from './admin-request.ts';
import type { SchemaTypes } from '../../server/create-app.ts';
import { gatewayRoute, schemaRef } from './openapi/responses.ts';
import type { RequestBodies } from './request-bodies.ts';

export interface ChangeRoutesParts {
  readonly gateway: Pick<Gateway, 'applianceFor'>;
  readonly changes: Changes;
  readonly proposals: Proposals;
  readonly bodies: Pick<RequestBodies, 'readJson'>;
}

const reason = Type.Optional(Type.String({ maxLength: maxReasonLength }));
const digest = Type.String({ description: 'Of the plan that was looked at.', pattern: '^[0-9a-f]{64}$' });
const DecisionSchema = Type.Object({ reason }, { additionalProperties: false });

const decisions = {
  approve: {
    summary: 'approve a plan, and carry it out (a token with approver)',
    status: 202,
    takes: Type.Object({ digest, reason }, { additionalProperties: false }),
  },
  deny: { summary: 'deny a change (a token with approver)', status: 200, takes: DecisionSchema },
  cancel: {
    summary: 'take a change back (the token that asked for it, or admin)',
    status: 200,
    takes: DecisionSchema,
  },
} as const;

const stateWords = [...changeStates, 'open'] as const;
const ListQuery = Type.Object(
  {
    state: Type.Optional(
      Type.Union([Type.Enum([...stateWords]), Type.Array(Type.Enum([...stateWords]))], {
        description: 'Of this state alone; `open` are all that are not over. May be repeated.',
      }),
    ),
  },
  { additionalProperties: false },
);
const ChangeParams = Type.Object({ id: Type.String({ description: 'The id of the change.' }) });

/** Registers the paths of changes, and that of the alerts for which they are proposed. */
export function registerChangeRoutes(app: FastifyInstance, parts: ChangeRoutesParts): void {
  registerSubmitRoute(app, parts);
  registerReadRoutes(app, parts);
  registerDecisionRoutes(app, parts);
  registerAlertsRoute(app, parts);
}

const SubmitQuery = Type.Object(
  { dry_run: Type.Optional(Type.Enum(['true', 'false'], { description: 'Plan it, and change nothing.' })) },
  { additionalProperties: false },
);

function registerSubmitRoute(app: FastifyInstance, { gateway, changes, bodies }: ChangeRoutesParts): void {
  const schema = {
    ...gatewayRoute('askForChange', 'plan a change, run it now, or ask another person to approve it', {
      description: 'The change, which waits, or goes on without its caller.',
      schema: 'Change',
      status: 202,
      takes: ChangeRequestSchema,
      others: {
        200: {
          description: 'With dry_run, its plan; with run: now, what its steps do, a line each.',
          content: {
            'application/json': { schema: schemaRef('PlanOfChange') },
            'application/x-ndjson': { schema: schemaRef('ChangeEvent') },
          },
        },
      },
    }),
    querystring: SubmitQuery,
  };
  const routes = app.withTypeProvider<SchemaTypes>();
  routes.post('/changes', { schema, attachValidation: true }, async (request, reply) => {
    if (request.validationError)
      throw new AdminProblem('malformed_request', {
        detail: 'dry_run is neither true nor false, or the query has another key; nothing was sent.',
      });
    const caller = callerOf(request);
    // Before the body, which costs memory until it has come whole.
    assertMayWrite(caller.principal);
    const body = await bodies.readJson(request, ChangeRequestSchema);
    const { name: appliance } = gateway.applianceFor({ ...caller, appliance: body.appliance });
    Object.assign(contextOf(request), { appliance, reason: body.reason });
    // The connection is silent while an appliance works.
    const { socket } = request.raw;
    socket.setTimeout(0);
    try {
      if (request.query.dry_run === 'true') return await reply.send(await changes.plan(body, caller));
      if (body.reason === undefined) throw missingReason();
      if (body.run !== 'now') return await reply.send(accepted(reply, await changes.submit(body, caller)));
      return await sendRun(reply, { changes, body, caller });
    } finally {
      socket.setTimeout(app.server.timeout);
    }
  });
}

/** How often a quiet response gets an empty line, so that proxies and callers keep it open. */
const keepaliveMs = 10_000;

/** Runs a change, and sends what its steps do; sends 202 for one that goes on without its caller. */
async function sendRun(
  reply: FastifyReply,
  {
    changes,
    body,
    caller,
  }: Pick<ChangeRoutesParts, 'changes'> & { readonly body: ChangeRequest; readonly caller: Caller },
): Promise<FastifyReply> {
  const isDetached = body.detach === true;
  const lines = new PassThrough();
  const write = (event: ChangeEvent): void => void (lines.writable && lines.write(`${JSON.stringify(event)}\n`));
  const runner = isDetached ? { ...caller, signal: new AbortController().signal } : caller;
  const { change, over } = await changes.run(body, runner, isDetached ? () => undefined : write);
  if (!over || isDetached) return await reply.send(accepted(reply, change));
  const alive = setInterval(() => lines.writable && lines.write('\n'), keepaliveMs);
  void over
    .then((ended) => write({ event: 'over', change: ended }))
    .finally(() => {
      clearInterval(alive);
      lines.end();
    });
  const sent = once(lines, 'close').catch(() => undefined);
  void reply.type('application/x-ndjson').send(lines);
  await sent;
  return reply;
}

function missingReason(): AdminProblem {
  return new AdminProblem('reason_required', {
    detail: 'A change needs a reason, for the audit and for those who decide on it; nothing was sent.',
    remedy: 'Add a reason to the body. A dry run needs none.',
  });
}

/** Answers with 202 and the address of a change that is not over. */
export function accepted(reply: FastifyReply, shown: ShownChange): ShownChange {
  void reply.code(202).header('location', `/changes/${shown.id}`);
  return shown;
}

function registerReadRoutes(app: FastifyInstance, { changes, proposals }: ChangeRoutesParts): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const list = {
    ...gatewayRoute('listChanges', 'the changes that the token covers, newest first', {
      description: 'The changes, without their plans.',
      schema: 'Changes',
    }),
    querystring: ListQuery,
  };
  routes.get('/changes', { schema: list, attachValidation: true }, async (request) => {
    if (request.validationError)
      throw new AdminProblem('malformed_request', {
        detail: 'The query has another key than state, or a state that no change has.',
        remedy: `Filter by state, which is one of ${stateWords.join(', ')}.`,
      });
    const wanted = [request.query.state ?? []]
      .flat()
      .flatMap((word): readonly ChangeState[] => (word === 'open' ? openStates : [word]));
    const { principal } = callerOf(request);
    const found = changes.list(principal);
    const shown = wanted.length === 0 ? found : found.filter(({ state }) => wanted.includes(state));
    return {
      changes: shown.map(({ plan: _plan, ...rest }) => rest),
      not_proposed: proposals.notProposed(principal),
    };
  });
  const one = {
    ...gatewayRoute('readChange', 'a change with its plan', {
      description: 'The change.',
      schema: 'Change',
    }),
    params: ChangeParams,
  };
  routes.get('/changes/:id', { schema: one }, async (request) =>
    changes.get(request.params.id, callerOf(request).principal),
  );
}

function registerDecisionRoutes(app: FastifyInstance, { changes, bodies }: ChangeRoutesParts): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  for (const word of decisionWords) {
    const { summary, status, takes } = decisions[word];
    const response = { description: 'The change in its new state.', schema: 'Change', status, takes } as const;
    const schema = { ...gatewayRoute(`${word}Change`, summary, response), params: ChangeParams };
    routes.post(`/changes/:id/${word}`, { schema }, async (request, reply) => {
      const { id } = request.params;
      const caller = callerOf(request);
      const context = contextOf(request);
      context.appliance = changes.get(id, caller.principal).appliance;
      // Before the body, which costs memory until it has come whole.
      if (word !== 'cancel' && !caller.principal.approver) throw notApprover(caller.principal);
      const body: { readonly digest?: string; readonly reason?: string } = await bodies.readJson(request, takes);
      // A refusal is audited with it.
      if (body.reason !== undefined) context.reason = body.reason;
      const decided = await changes.decide({ id, word, digest: body.digest, reason: body.reason, caller });
      return status === 202 ? accepted(reply, decided) : decided;
    });
  }
}

const alertsPath = '/alerts';
/** Limit of a token, at once and every minute: ten for each of a thousand appliances. */
export const alertsPerMinute = 10_000;

/** Registers `POST /alerts`, Alertmanager's webhook: the repairs of firing alerts are proposed. */
function registerAlertsRoute(app: FastifyInstance, { proposals, bodies }: ChangeRoutesParts): void {
  const schema = gatewayRoute('postAlerts', "take Alertmanager's webhook, and propose known repairs (alertmanager)", {
    description: 'How many alerts were taken up.',
    schema: 'TakenAlerts',
    takes: NotificationSchema,
  });
  const buckets = TokenBuckets.perMinute(alertsPerMinute);
  app.post(alertsPath, { schema }, async (request) => {
    const caller = callerOf(request);
    const { name } = caller.principal;
    const notification = await bodies.readJson(request, NotificationSchema);
    const { length } = notification.alerts;
    const seconds = buckets.secondsUntil(name, length);
    if (seconds > 0) throw tooManyAlerts(name, seconds);
    buckets.take(name, length);
    return await proposals.accept(notification, caller);
  });
}

function tooManyAlerts(principal: string, seconds: number): AdminProblem {
  return new AdminProblem('too_many_alerts', {
    detail: `${principal} posts more than ${alertsPerMinute} alerts a minute; these were not taken.`,
    headers: { 'retry-after': String(seconds) },
  });
}

/** Throws unless the role is `alertmanager` exactly for the path of alerts. */
export function assertAlertmanagerPath(request: FastifyRequest, principal: Principal | undefined): void {
  const isAlertmanager = principal?.role === 'alertmanager';
  // By the route that was found: the router takes other spellings of its path as well.
  if (isAlertmanager === (request.routeOptions.url === alertsPath)) return;
  const detail = isAlertmanager
    ? `The role alertmanager only posts alerts to ${alertsPath}; nothing was sent.`
    : `${alertsPath} is for the role alertmanager alone; nothing was sent.`;
  const roles = isAlertmanager ? 'viewer, operator or admin' : 'alertmanager';
  throw new AdminProblem('role_too_low', { detail, remedy: `Use a token with the role ${roles}.` });
}
