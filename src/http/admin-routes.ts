import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AdminMetrics } from '../admin/admin-metrics.ts';
import type { AuditJournal } from '../admin/audit/journal.ts';
import { auditEvents } from '../admin/audit/record.ts';
import type { FreezeSwitch } from '../admin/freeze.ts';
import type { Gateway } from '../admin/gateway.ts';
import type { Operations } from '../admin/operation.ts';
import type { Parameters } from '../admin/parameters.ts';
import { maySee } from '../admin/policy.ts';
import type { Principal } from '../admin/principal.ts';
import { AdminProblem } from '../admin/problem.ts';
import type { Recorder, Subject } from '../admin/recorder.ts';
import { refuseUnlessPermittedOwn, refuseUnseen } from '../admin/refusals.ts';
import { assert, isOneOf } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import { readAdminHeaders } from './admin-headers.ts';
import type { RequestContext } from './request-context.ts';

export interface AdminRoutesParts {
  readonly gateway: Pick<Gateway, 'applianceFor'>;
  readonly operations: Operations;
  readonly parameters: Parameters;
  readonly recorder: Recorder;
  readonly journal: Pick<AuditJournal, 'query'>;
  readonly freeze: FreezeSwitch;
  readonly metrics: Pick<AdminMetrics, 'frozen'>;
  /** The configured appliances that a principal may know of. */
  readonly applianceNamesOf: (principal: Principal) => readonly string[];
  /** Returns what polling knows of all appliances. */
  readonly describe: () => readonly {
    readonly name: string;
    readonly edition: string | undefined;
    readonly version: string | undefined;
  }[];
  readonly contextOf: (request: FastifyRequest) => RequestContext;
}

const auditFilters = ['principal', 'appliance', 'operation', 'event'] as const;

/** Registers the paths that the gateway answers itself. */
export function registerAdminRoutes(app: FastifyInstance, parts: AdminRoutesParts): void {
  registerOverview(app, parts);
  registerParameters(app, parts);
  registerAudit(app, parts);
  registerFreeze(app, parts);
}

function registerOverview(app: FastifyInstance, { describe, contextOf }: AdminRoutesParts): void {
  app.get('/whoami', async (request) => {
    const { name, role, appliances, expiresAtMs, guards } = callerOf(request, contextOf).principal;
    return {
      principal: name,
      role,
      appliances,
      expires: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
      guards,
    };
  });

  app.get('/appliances', async (request) => {
    const { principal } = callerOf(request, contextOf);
    const covered = describe().filter(({ name }) => principal.covers(name));
    return { appliances: covered.map(({ name, edition, version }) => ({ name, edition, version })) };
  });
}

function registerParameters(
  app: FastifyInstance,
  { gateway, operations, parameters, contextOf }: AdminRoutesParts,
): void {
  app.get('/appliances/:name/parameters', async (request) => {
    const { principal, subject } = callerOf(request, contextOf);
    const { name } = request.params as { readonly name: string };
    const appliance = gateway.applianceFor({ principal, appliance: name });
    contextOf(request).appliance = appliance.name;
    const { operation: wanted = '', ...values } = queryOf(request);
    const operation = operations.named(wanted);
    if (operation?.row.body !== 'json') {
      throw new AdminProblem('unknown_path', {
        detail: 'The query names no operation that takes parameters.',
        remedy: 'Add ?operation=KEY with a key of GET /docs whose body is JSON, such as actOnFarm.',
      });
    }
    const call = operations.call(operation, values);
    if (!call) {
      throw new AdminProblem('missing_parameter', {
        detail: `${operation.row.route} needs a plain value for each name in braces; nothing was sent.`,
        remedy: 'Add them to the query, such as &farmname=shop.',
      });
    }
    return await parameters.of(appliance, call, subject(operation.key, call.path), contextOf(request).signal);
  });
}

function registerAudit(app: FastifyInstance, { journal, contextOf }: AdminRoutesParts): void {
  app.get('/audit', async (request) => {
    const { principal } = callerOf(request, contextOf);
    refuseUnlessPermittedOwn(principal, 'readAudit');
    const { limit = '100', ...filters } = queryOf(request);
    if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > 1_000) {
      throw new AdminProblem('malformed_request', {
        detail: 'limit is not a whole number from 1 to 1000.',
        remedy: 'Leave it out for the newest 100; filter by principal, appliance, operation or event.',
      });
    }
    const unknownFilter = Object.keys(filters).find((name) => !isOneOf(auditFilters, name));
    if (unknownFilter !== undefined || (filters.event !== undefined && !isOneOf(auditEvents, filters.event))) {
      throw new AdminProblem('malformed_request', {
        detail: 'The query has a filter that there is not, which would read as "nothing happened".',
        remedy: `Filter by ${auditFilters.join(', ')}; an event is one of ${auditEvents.join(', ')}.`,
      });
    }
    refuseUnseen(principal, filters);
    const records = await journal.query({
      limit: Number(limit),
      ...filters,
      maySee: (line) => maySee(principal, line),
    });
    return { records };
  });
}

function registerFreeze(app: FastifyInstance, { recorder, freeze, metrics, contextOf }: AdminRoutesParts): void {
  app.get('/freeze', async () => (freeze.state ? { frozen: true, ...freeze.state } : { frozen: false }));

  app.put('/freeze', async (request) => {
    const { principal, token, subject } = callerOf(request, contextOf);
    refuseUnlessPermittedOwn(principal, 'freeze');
    const { reason: given } = readAdminHeaders(request.headers);
    if (given === undefined) {
      throw new AdminProblem('reason_required', {
        detail: 'Whoever meets the freeze must be able to read why.',
        remedy: 'Add the header X-Reason with a sentence.',
      });
    }
    if (freeze.state) {
      throw new AdminProblem('already_frozen', {
        detail: `${freeze.state.by} froze all changes on ${freeze.state.since}: ${freeze.state.reason}.`,
        remedy: 'It holds as it is. To freeze for another reason, lift it first with DELETE /freeze.',
      });
    }
    const reason = recorder.scrubbed(given, token);
    contextOf(request).reason = reason;
    await recorder.record({ ...subject(), reason }, { event: 'freeze' });
    try {
      const state = await freeze.freeze(principal.name, reason);
      metrics.frozen(true);
      return { frozen: true, ...state };
    } catch (error) {
      // The audit already says that changes are frozen.
      await recorder.note({ ...subject(), reason }, { event: 'unfreeze', status: 500, code: 'internal_error' });
      throw error;
    }
  });

  app.delete('/freeze', async (request) => {
    const { principal, subject } = callerOf(request, contextOf);
    refuseUnlessPermittedOwn(principal, 'unfreeze');
    const { reason } = readAdminHeaders(request.headers);
    await recorder.record({ ...subject(), reason }, { event: 'unfreeze' });
    await freeze.thaw();
    metrics.frozen(false);
    return { frozen: false };
  });
}

interface Caller {
  readonly principal: Principal;
  readonly token: Secret;
  /** Returns what a record of this request says about it. */
  readonly subject: (operation?: string, path?: string) => Subject;
}

function callerOf(request: FastifyRequest, contextOf: AdminRoutesParts['contextOf']): Caller {
  const { id, principal, token, reason } = contextOf(request);
  assert(principal && token, 'the request is authenticated');
  const subject = (operation?: string, path = request.routeOptions.url ?? ''): Subject => ({
    id,
    principal,
    token,
    appliance: contextOf(request).appliance,
    operation,
    method: request.method,
    path,
    reason,
  });
  return { principal, token, subject };
}

/** Returns the query parameters; of a repeated name the last value counts. */
function queryOf({ originalUrl }: FastifyRequest): Readonly<Record<string, string>> {
  const query = originalUrl.indexOf('?');
  return query === -1 ? {} : Object.fromEntries(new URLSearchParams(originalUrl.slice(query + 1)));
}
