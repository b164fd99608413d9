import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Gateway } from '../calls/gateway.ts';
import type { Principal } from '../policy/principal.ts';
import { refuseViewer } from '../policy/policy.ts';
import { AdminProblem } from '../policy/problem.ts';
import {
  type DecisionWord,
  openStates,
  type RequestState,
  requestStates,
  type ShownRequest,
} from '../changes/change-request.ts';
import type { ChangeRequests } from '../changes/change-requests.ts';
import type { DecisionOn } from '../changes/decide.ts';
import { NotificationSchema, type Proposals } from '../changes/proposals.ts';
import { AskedSchema, malformed } from '../changes/ask.ts';
import { notApprover } from '../changes/rights.ts';
import { callerOf, contextOf } from './admin-request.ts';
import type { SchemaTypes } from '../../server/create-app.ts';
import { own } from './openapi/answers.ts';
import type { RequestBodies } from './request-bodies.ts';
import { pathOf } from '../../server/request-line.ts';

export interface RequestRoutesParts {
  readonly gateway: Pick<Gateway, 'applianceFor'>;
  readonly changeRequests: ChangeRequests;
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

const stateWords = [...requestStates, 'open'] as const;
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
const RequestParams = Type.Object({ id: Type.String({ description: 'The id of the change request.' }) });

/** Registers the paths of change requests, and that of the alerts for which they are proposed. */
export function registerRequestRoutes(app: FastifyInstance, parts: RequestRoutesParts): void {
  registerAsking(app, parts);
  registerReading(app, parts);
  registerDeciding(app, parts);
  registerAlerts(app, parts);
}

function registerAsking(app: FastifyInstance, { gateway, changeRequests, bodies }: RequestRoutesParts): void {
  const schema = own('askForChange', 'ask for a change, which another person approves', {
    description: 'The change request.',
    schema: 'ChangeRequest',
    status: 202,
    takes: AskedSchema,
  });
  app.post('/requests', { schema }, async (request, reply) => {
    const actor = callerOf(request);
    // Before the body, which costs memory until it has come whole.
    refuseViewer(actor.principal);
    const asked = await bodies.readJson(request, AskedSchema);
    const { name: appliance } = gateway.applianceFor({ ...actor, appliance: asked.appliance });
    Object.assign(contextOf(request), { appliance, reason: asked.reason });
    return accepted(reply, await changeRequests.askFor(asked, actor));
  });
}

/** Answers with 202 and the address of a request that is not over. */
function accepted(reply: FastifyReply, shown: ShownRequest): ShownRequest {
  void reply.code(202).header('location', `/requests/${shown.id}`);
  return shown;
}

function registerReading(app: FastifyInstance, { changeRequests, proposals }: RequestRoutesParts): void {
  const routes = app.withTypeProvider<SchemaTypes>();
  const list = {
    ...own('listChangeRequests', 'the change requests that the token covers, newest first', {
      description: 'The change requests, without their plans.',
      schema: 'ChangeRequests',
    }),
    querystring: ListQuery,
  };
  routes.get('/requests', { schema: list, attachValidation: true }, async (request) => {
    if (request.validationError) throw malformed(`state is one of ${stateWords.join(', ')}`);
    const wanted = [request.query.state ?? []]
      .flat()
      .flatMap((word): readonly RequestState[] => (word === 'open' ? openStates : [word]));
    const { principal } = callerOf(request);
    const found = changeRequests.list(principal);
    const shown = wanted.length === 0 ? found : found.filter(({ state }) => wanted.includes(state));
    return {
      requests: shown.map(({ plan: _plan, ...rest }) => rest),
      not_proposed: proposals.notProposed(principal),
    };
  });
  const one = {
    ...own('readChangeRequest', 'a change request with its plan', {
      description: 'The change request.',
      schema: 'ChangeRequest',
    }),
    params: RequestParams,
  };
  routes.get('/requests/:id', { schema: one }, async (request) =>
    changeRequests.get(request.params.id, callerOf(request).principal),
  );
}

function registerDeciding(app: FastifyInstance, parts: RequestRoutesParts): void {
  const { changeRequests, bodies } = parts;
  const routes = app.withTypeProvider<SchemaTypes>();
  const decided = { description: 'The change request in its new state.', schema: 'ChangeRequest' } as const;
  const approving = {
    ...own('approveChange', 'approve a plan, and carry it out (a token with approver)', {
      ...decided,
      status: 202,
      takes: ApprovalSchema,
    }),
    params: RequestParams,
  };
  routes.post('/requests/:id/approve', { schema: approving }, async (request, reply) => {
    const decision = decisionOn(request, 'approve', parts);
    const { digest, reason } = await bodies.readJson(request, ApprovalSchema);
    return accepted(reply, await changeRequests.approve({ ...decision, reason: noted(request, reason), digest }));
  });
  const summaries = {
    deny: 'deny a change (a token with approver)',
    cancel: 'take a change request back (its requester, or admin)',
  };
  for (const word of ['deny', 'cancel'] as const) {
    const schema = {
      ...own(`${word}Change`, summaries[word], { ...decided, takes: DecisionSchema }),
      params: RequestParams,
    };
    routes.post(`/requests/:id/${word}`, { schema }, async (request) => {
      const decision = decisionOn(request, word, parts);
      const { reason } = await bodies.readJson(request, DecisionSchema);
      return await changeRequests.denyOrCancel(word, { ...decision, reason: noted(request, reason) });
    });
  }
}

/**
 * Returns a decision on a request that the token covers, before its body is read. Throws an
 * {@link AdminProblem}, also for a token that decides on nothing.
 */
function decisionOn(
  request: FastifyRequest<{ Params: Static<typeof RequestParams> }>,
  word: DecisionWord,
  { changeRequests }: RequestRoutesParts,
): Omit<DecisionOn, 'reason'> {
  const { id } = request.params;
  const actor = callerOf(request);
  contextOf(request).appliance = changeRequests.get(id, actor.principal).appliance;
  if (word !== 'cancel' && !actor.principal.approver) throw notApprover(actor.principal);
  return { id, actor };
}

/** Notes the reason of a decision, so that a later refusal is audited with it. */
function noted(request: FastifyRequest, reason: string | undefined): string | undefined {
  if (reason !== undefined) contextOf(request).reason = reason;
  return reason;
}

const alertsPath = '/alerts';

/** `POST /alerts`: Alertmanager's webhook. A firing alert with a known repair is proposed. */
function registerAlerts(app: FastifyInstance, { proposals, bodies }: RequestRoutesParts): void {
  const schema = own('postAlerts', "take Alertmanager's webhook, and propose known repairs (alertmanager)", {
    description: 'How many alerts were taken up.',
    schema: 'TakenAlerts',
    takes: NotificationSchema,
  });
  app.post(alertsPath, { schema }, async (request) =>
    proposals.take(await bodies.readJson(request, NotificationSchema), callerOf(request)),
  );
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
