import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Journal } from '../journal/journal.ts';
import { auditEvents } from '../journal/record.ts';
import type { FreezeSwitch } from '../policy/freeze.ts';
import type { Gateway } from '../calls/gateway.ts';
import type { Operations } from '../policy/operation.ts';
import { authoriseGatewayOperation, maySeeRecord, assertVisible } from '../policy/policy.ts';
import { AdminProblem } from '../policy/problem.ts';
import { JournalError } from '../journal/failures.ts';
import type { Recorder } from '../calls/recorder.ts';
import { callerOf, contextOf, readAdminHeaders, requestSubject } from './admin-request.ts';
import type { SchemaTypes } from '../../server/create-app.ts';
import { gatewayRoute } from './openapi/responses.ts';

export interface AdminRoutesParts {
  readonly gateway: Pick<Gateway, 'applianceFor' | 'parametersOf'>;
  readonly operations: Operations;
  readonly recorder: Recorder;
  readonly journal: Pick<Journal, 'query'>;
  readonly freeze: FreezeSwitch;
  /** Whether people may approve their own changes; a reload may change it. */
  readonly approvals: () => { readonly selfApproval: boolean };
  /** Returns what polling knows of all appliances. */
  readonly polledAppliances: () => readonly {
    readonly name: string;
    readonly edition: string | undefined;
    readonly version: string | undefined;
  }[];
}

const ApplianceParams = Type.Object({
  appliance: Type.String({
    description: 'The name of the appliance in the configuration; GET /appliances lists those that the token covers.',
  }),
});

const ParametersQuery = Type.Object(
  {
    operation: Type.String({ description: 'The operationId.' }),
    placeholders: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'The placeholders in the path of the operation, each by its name.',
        examples: [{}],
      }),
    ),
  },
  { additionalProperties: Type.String() },
);

const defaultLines = '100';

const AuditQuery = Type.Object(
  {
    limit: Type.Optional(
      // A text, since a number could also be written as 1e3.
      Type.String({
        description: 'How many lines, from 1 to 1000.',
        pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
        default: defaultLines,
      }),
    ),
    principal: Type.Optional(Type.String({ description: 'Of this principal alone.' })),
    appliance: Type.Optional(Type.String({ description: 'Of this appliance alone.' })),
    operation: Type.Optional(Type.String({ description: 'Of this operationId alone.' })),
    event: Type.Optional(Type.Enum([...auditEvents], { description: 'Of this kind alone.' })),
  },
  { additionalProperties: false },
);

const FreezeHeaders = Type.Object({
  'X-Reason': Type.String({ description: 'The reason; refusals quote it.' }),
});
const UnfreezeHeaders = Type.Object({
  'X-Reason': Type.Optional(
    Type.String({ description: 'Why, for the audit. Characters beyond ASCII are percent-encoded.' }),
  ),
});

export function registerAdminRoutes(app: FastifyInstance, parts: AdminRoutesParts): void {
  registerOverview(app, parts);
  registerParameters(app, parts);
  registerAudit(app, parts);
  registerFreeze(app, parts);
}

function registerOverview(app: FastifyInstance, { polledAppliances, approvals }: AdminRoutesParts): void {
  const whoami = gatewayRoute('whoAmI', 'who the token belongs to, what it covers, and whether guards refuse or warn', {
    description: 'The principal.',
    schema: 'Whoami',
  });
  app.get('/whoami', { schema: whoami }, async (request) => {
    const { name, role, appliances, expiresAtMs, guards, ...rest } = callerOf(request).principal;
    return {
      principal: name,
      role,
      appliances,
      expires: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
      guards,
      person: rest.person,
      approver: rest.approver,
      self_approval: approvals().selfApproval,
      break_glass: rest.breakGlass,
    };
  });

  const list = gatewayRoute('listAppliances', 'the appliances that the token covers', {
    description: 'Their names, and what is known of them.',
    schema: 'Appliances',
  });
  app.get('/appliances', { schema: list }, async (request) => {
    const { principal } = callerOf(request);
    const covered = polledAppliances().filter(({ name }) => principal.covers(name));
    return { appliances: covered.map(({ name, edition, version }) => ({ name, edition, version })) };
  });
}

function registerParameters(app: FastifyInstance, { gateway, operations }: AdminRoutesParts): void {
  const schema = {
    ...gatewayRoute('discoverParameters', 'the parameters of an operation, asked from the appliance', {
      description: 'A descriptor for each parameter.',
      schema: 'Parameters',
    }),
    params: ApplianceParams,
    querystring: ParametersQuery,
  };
  const routes = app.withTypeProvider<SchemaTypes>();
  routes.get('/appliances/:appliance/parameters', { schema, attachValidation: true }, async (request) => {
    const { principal, signal } = callerOf(request);
    const appliance = gateway.applianceFor({ principal, appliance: request.params.appliance });
    contextOf(request).appliance = appliance.name;
    const { operation: wanted, placeholders: _placeholders, ...values } = request.query;
    const operation = typeof wanted === 'string' ? operations.get(wanted) : undefined;
    if (operation?.row.body !== 'json') {
      throw new AdminProblem('unknown_path', {
        detail: 'The query names no operation that takes parameters.',
        remedy: 'Add ?operation=KEY with a key of GET /docs whose body is JSON, such as actOnFarm.',
      });
    }
    const call = request.validationError ? undefined : operations.toCall(operation.operationId, values);
    if (!call) {
      throw new AdminProblem('missing_parameter', {
        detail: `${operation.row.route} needs a plain value for each name in braces; nothing was sent.`,
      });
    }
    return await gateway.parametersOf(call, { ...requestSubject(request), signal, appliance: appliance.name });
  });
}

/** Throws the refusal of a search in a journal that cannot be read; for `catch`. */
function throwUnreadable(cause: unknown): never {
  if (!(cause instanceof JournalError)) throw cause;
  throw new AdminProblem('audit_unavailable', {
    detail: 'The journal cannot be read. The log of the exporter says why.',
    headers: { 'retry-after': '30' },
    cause,
  });
}

/** The most searches of the audit that wait. They run one by one; one token may have half of the places. */
export const maxSearches = 8;

function registerAudit(app: FastifyInstance, { journal }: AdminRoutesParts): void {
  let last: Promise<unknown> = Promise.resolve();
  const waiting: string[] = [];

  /** Searches one after another: what is written meanwhile waits for a part of one of them. */
  async function search(by: string, query: Parameters<Journal['query']>[0]): ReturnType<Journal['query']> {
    const own = waiting.filter((each) => each === by).length;
    if (waiting.length >= maxSearches || own >= maxSearches / 2)
      throw new AdminProblem('busy', {
        detail: `${waiting.length} other searches of the audit are under way, ${own} of them of this token.`,
        remedy: 'Try again in a moment.',
        headers: { 'retry-after': '2' },
      });
    waiting.push(by);
    const found = last
      .then(() => journal.query(query).catch(throwUnreadable))
      .finally(() => waiting.splice(waiting.indexOf(by), 1));
    last = found.catch(() => undefined);
    return await found;
  }

  const schema = {
    ...gatewayRoute('readAudit', 'the audit, newest first, of what the token covers (admin)', {
      description: 'The lines.',
      schema: 'Audit',
    }),
    querystring: AuditQuery,
  };
  app.withTypeProvider<SchemaTypes>().get('/audit', { schema, attachValidation: true }, async (request) => {
    const { principal, signal } = callerOf(request);
    authoriseGatewayOperation(principal, 'readAudit');
    if (request.validationError) {
      throw new AdminProblem('malformed_request', {
        detail: 'The query has an unknown filter, or its limit is not a whole number from 1 to 1000.',
        remedy: `Filter once by principal, appliance, operation or event, which is one of ${auditEvents.join(', ')}.`,
      });
    }
    const { limit = defaultLines, ...filters } = request.query;
    assertVisible(principal, filters);
    const records = await search(principal.name, {
      limit: Number(limit),
      ...filters,
      signal,
      maySee: (line) => maySeeRecord(principal, line),
    });
    return { records };
  });
}

function registerFreeze(app: FastifyInstance, { recorder, freeze }: AdminRoutesParts): void {
  const shown = () => (freeze.state ? { frozen: true, ...freeze.state, kept: freeze.isSaved } : { frozen: false });
  const read = gatewayRoute('readFreeze', 'whether changes are frozen', {
    description: 'The state.',
    schema: 'Freeze',
  });
  app.get('/freeze', { schema: read }, async () => shown());

  const newState = { description: 'The new state.', schema: 'Freeze' } as const;
  const freezing = {
    ...gatewayRoute(
      'freeze',
      'refuse every operation that is not a read, until it is lifted (admin, with a token for all appliances)',
      newState,
    ),
    headers: FreezeHeaders,
  };
  app.put('/freeze', { schema: freezing, attachValidation: true }, async (request) => {
    const { principal, token } = callerOf(request);
    authoriseGatewayOperation(principal, 'freeze');
    const { reason: given } = readAdminHeaders(request.headers);
    if (given === undefined) {
      throw new AdminProblem('reason_required', {
        detail: 'A freeze needs a reason, which each refusal quotes.',
      });
    }
    if (freeze.state) {
      throw new AdminProblem('already_frozen', {
        detail: `${freeze.state.by} froze all changes on ${freeze.state.since}: ${freeze.state.reason}.`,
      });
    }
    const reason = recorder.redact(given, token) ?? '';
    contextOf(request).reason = reason;
    const subject = requestSubject(request);
    await freeze.freeze({ by: principal.name, reason }, (text) =>
      recorder.recordOrRefuse(subject, { event: 'freeze' }, { freeze: text }),
    );
    return shown();
  });

  const unfreezing = {
    ...gatewayRoute('unfreeze', 'let changes through again (admin, with a token for all appliances)', newState),
    headers: UnfreezeHeaders,
  };
  app.delete('/freeze', { schema: unfreezing, attachValidation: true }, async (request) => {
    authoriseGatewayOperation(callerOf(request).principal, 'unfreeze');
    const { reason } = readAdminHeaders(request.headers);
    const subject = { ...requestSubject(request), reason };
    await freeze.unfreeze((text) => recorder.recordOrRefuse(subject, { event: 'unfreeze' }, { freeze: text }));
    return shown();
  });
}
