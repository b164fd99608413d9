import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Gateway } from '../calls/gateway.ts';
import type { Caller, Principal } from '../policy/principal.ts';
import { refuseViewer } from '../policy/policy.ts';
import { Allowance } from '../../lib/allowance.ts';
import { AdminProblem } from '../policy/problem.ts';
import {
  type ChangeEvent,
  type ChangeState,
  changeStates,
  type DecisionWord,
  openStates,
  type ShownChange,
  type StepEvent,
} from '../changes/change.ts';
import type { Changes } from '../changes/changes.ts';
import type { DecisionOn } from '../changes/decide.ts';
import type { Proposals } from '../changes/proposals.ts';
import { NotificationSchema } from '../changes/repairs.ts';
import { notApprover } from '../changes/rights.ts';
import { type Asked, AskedSchema, malformed } from '../changes/task.ts';
import { callerOf, contextOf } from './admin-request.ts';
import type { SchemaTypes } from '../../server/create-app.ts';
import { own, schemaRef } from './openapi/answers.ts';
import type { RequestBodies } from './request-bodies.ts';
import { pathOf } from '../../server/request-line.ts';

export interface ChangeRoutesParts {
  readonly gateway: Pick<Gateway, 'applianceFor'>;
  readonly changes: Changes;
  readonly proposals: Proposals;
  readonly bodies: Pick<RequestBodies, 'readJson'>;
}

const DecisionSchema = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: 500 })) },
  { additionalProperties: false },
);

const ApprovalSchema = Type.Object(
  {
    digest: Type.String({ description: 'Of the plan that was looked at.', pattern: '^[0-9a-f]{64}$' }),
    reason: Type.Optional(Type.String({ maxLength: 500 })),
  },
  { additionalProperties: false },
);

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
  registerAsking(app, parts);
  registerReading(app, parts);
  registerDeciding(app, parts);
  registerAlerts(app, parts);
}

const AskingQuery = Type.Object(
  { dry_run: Type.Optional(Type.Enum(['true', 'false'], { description: 'Plan it, and change nothing.' })) },
  { additionalProperties: false },
);

function registerAsking(app: FastifyInstance, { gateway, changes, bodies }: ChangeRoutesParts): void {
  const schema = {
    ...own('askForChange', 'plan a change, run it now, or ask another person to approve it', {
      description: 'The change, which waits, or goes on without its caller.',
      schema: 'Change',
      status: 202,
      takes: AskedSchema,
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
    querystring: AskingQuery,
  };
  const routes = app.withTypeProvider<SchemaTypes>();
  routes.post('/changes', { schema, attachValidation: true }, async (request, reply) => {
    if (request.validationError) throw malformed('dry_run is neither true nor false, or the query has more');
    const actor = callerOf(request);
    // Before the body, which costs memory until it has come whole.
    refuseViewer(actor.principal);
    const asked = await bodies.readJson(request, AskedSchema);
    const { name: appliance } = gateway.applianceFor({ ...actor, appliance: asked.appliance });
    Object.assign(contextOf(request), { appliance, reason: asked.reason });
    // The connection is silent while an appliance works.
    const { socket } = request.raw;
    socket.setTimeout(0);
    try {
      if (request.query.dry_run === 'true') return await reply.send(await changes.showPlan(asked, actor));
      if (asked.reason === undefined) throw reasonMissing();
      if (asked.run !== 'now') return await reply.send(accepted(reply, await changes.askFor(asked, actor)));
      return await runNow(reply, { changes, asked, actor });
    } finally {
      socket.setTimeout(app.server.timeout);
    }
  });
}

/** How often a silent answer gets an empty line: proxies and callers see that it goes on. */
const aliveMs = 10_000;

/** Answers with the events of the steps; with 202 for a change that goes on without its caller. */
async function runNow(
  reply: FastifyReply,
  { changes, asked, actor }: Pick<ChangeRoutesParts, 'changes'> & { readonly asked: Asked; readonly actor: Caller },
): Promise<FastifyReply> {
  const isAlone = asked.detach === true;
  const lines = new PassThrough();
  const write = (event: ChangeEvent): void => void (lines.writable && lines.write(`${JSON.stringify(event)}\n`));
  const early: StepEvent[] = [];
  let tell = (event: StepEvent): void => void early.push(event);
  const caller = isAlone ? { ...actor, signal: new AbortController().signal } : actor;
  const { change, over } = await changes.runNow(asked, caller, (event) => tell(event));
  if (!over || isAlone) return await reply.send(accepted(reply, change));
  const alive = setInterval(() => lines.writable && lines.write('\n'), aliveMs);
  write({ event: 'started', change });
  for (const event of early) write(event);
  tell = write;
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

function reasonMissing(): AdminProblem {
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

function registerReading(app: FastifyInstance, { changes, proposals }: ChangeRoutesParts): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const list = {
    ...own('listChanges', 'the changes that the token covers, newest first', {
      description: 'The changes, without their plans.',
      schema: 'Changes',
    }),
    querystring: ListQuery,
  };
  routes.get('/changes', { schema: list, attachValidation: true }, async (request) => {
    if (request.validationError) throw malformed(`state is one of ${stateWords.join(', ')}`);
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
    ...own('readChange', 'a change with its plan', {
      description: 'The change.',
      schema: 'Change',
    }),
    params: ChangeParams,
  };
  routes.get('/changes/:id', { schema: one }, async (request) =>
    changes.get(request.params.id, callerOf(request).principal),
  );
}

function registerDeciding(app: FastifyInstance, parts: ChangeRoutesParts): void {
  const { changes, bodies } = parts;
  const routes = app.withTypeProvider<SchemaTypes>();
  const decided = { description: 'The change in its new state.', schema: 'Change' } as const;
  const approving = {
    ...own('approveChange', 'approve a plan, and carry it out (a token with approver)', {
      ...decided,
      status: 202,
      takes: ApprovalSchema,
    }),
    params: ChangeParams,
  };
  routes.post('/changes/:id/approve', { schema: approving }, async (request, reply) => {
    const decision = decisionOn(request, 'approve', parts);
    const { digest, reason } = await bodies.readJson(request, ApprovalSchema);
    return accepted(reply, await changes.approve({ ...decision, reason: noted(request, reason), digest }));
  });
  const summaries = {
    deny: 'deny a change (a token with approver)',
    cancel: 'take a change back (the token that asked for it, or admin)',
  };
  for (const word of ['deny', 'cancel'] as const) {
    const schema = {
      ...own(`${word}Change`, summaries[word], { ...decided, takes: DecisionSchema }),
      params: ChangeParams,
    };
    routes.post(`/changes/:id/${word}`, { schema }, async (request) => {
      const decision = decisionOn(request, word, parts);
      const { reason } = await bodies.readJson(request, DecisionSchema);
      return await changes.denyOrCancel(word, { ...decision, reason: noted(request, reason) });
    });
  }
}

/**
 * Returns a decision on a change that the token covers, before its body is read. Throws an
 * {@link AdminProblem}, also for a token that decides on nothing.
 */
function decisionOn(
  request: FastifyRequest<{ Params: Static<typeof ChangeParams> }>,
  word: DecisionWord,
  { changes }: ChangeRoutesParts,
): Omit<DecisionOn, 'reason'> {
  const { id } = request.params;
  const actor = callerOf(request);
  contextOf(request).appliance = changes.get(id, actor.principal).appliance;
  if (word !== 'cancel' && !actor.principal.approver) throw notApprover(actor.principal);
  return { id, actor };
}

/** Notes the reason of a decision, so that a later refusal is audited with it. */
function noted(request: FastifyRequest, reason: string | undefined): string | undefined {
  if (reason !== undefined) contextOf(request).reason = reason;
  return reason;
}

const alertsPath = '/alerts';
/** Limit of a token, at once and every minute: ten for each of a thousand appliances. */
export const alertsPerMinute = 10_000;

/** `POST /alerts`: Alertmanager's webhook. A firing alert with a known repair is proposed. */
function registerAlerts(app: FastifyInstance, { proposals, bodies }: ChangeRoutesParts): void {
  const schema = own('postAlerts', "take Alertmanager's webhook, and propose known repairs (alertmanager)", {
    description: 'How many alerts were taken up.',
    schema: 'TakenAlerts',
    takes: NotificationSchema,
  });
  const allowance = new Allowance(alertsPerMinute);
  app.post(alertsPath, { schema }, async (request) => {
    const caller = callerOf(request);
    const { name } = caller.principal;
    const notification = await bodies.readJson(request, NotificationSchema);
    const { length } = notification.alerts;
    const seconds = allowance.secondsUntil(name, length);
    if (seconds > 0) throw tooManyAlerts(name, seconds);
    allowance.take(name, length);
    return await proposals.take(notification, caller);
  });
}

function tooManyAlerts(principal: string, seconds: number): AdminProblem {
  return new AdminProblem('too_many_alerts', {
    detail: `${principal} posts more than ${alertsPerMinute} alerts a minute; these were not taken.`,
    headers: { 'retry-after': String(seconds) },
  });
}

/** Keeps the role `alertmanager` and this path for each other. Throws an {@link AdminProblem}. */
export function refuseOtherThanAlerts(request: FastifyRequest, principal: Principal | undefined): void {
  const isAlertmanager = principal?.role === 'alertmanager';
  if (isAlertmanager === (pathOf(request) === alertsPath)) return;
  throw new AdminProblem('role_too_low', {
    detail: isAlertmanager
      ? `The role alertmanager only posts alerts to ${alertsPath}; nothing was sent.`
      : `${alertsPath} is for the role alertmanager alone; nothing was sent.`,
    remedy: 'Use a token with the other role.',
  });
}
