import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../calls/gateway.ts';
import type { Changes } from '../changes/changes.ts';
import { AdminProblem, unknownPath } from '../policy/problem.ts';
import type { AdminCall } from '../calls/admin-call.ts';
import type { Operations } from '../policy/operation.ts';
import { authorise } from '../policy/policy.ts';
import { knownBasePaths } from '../../appliance/route.ts';
import { decodePercent } from '../../lib/text.ts';
import { callerOf, contextOf, readAdminHeaders } from './admin-request.ts';
import { accepted } from './change-routes.ts';
import { pathOf } from '../../server/create-app.ts';
import type { RequestBodies } from './request-bodies.ts';

export interface RelayRoutesParts {
  readonly gateway: Pick<Gateway, 'applianceFor' | 'send' | 'dryRun'>;
  readonly operations: Pick<Operations, 'find'>;
  readonly changes: Pick<Changes, 'submitCall'>;
  /** The appliances by name; a reload changes the content. */
  readonly appliances: ReadonlyMap<string, unknown>;
  readonly bodies: Pick<RequestBodies, 'read'>;
}

/** Registers the paths whose requests the gateway sends to an appliance. */
export function registerRelayRoutes(app: FastifyInstance, parts: RelayRoutesParts): void {
  const { gateway, operations, changes, appliances, bodies } = parts;

  app.all('/appliances/*', (request, reply) => {
    const [, , name = '', ...rest] = pathOf(request).split('/');
    if (rest.length === 0) throw unknownPath();
    return relay(request, reply, { appliance: decodePercent(name) ?? '', path: `/${rest.join('/')}` });
  });
  // Existing clients look for the API under these paths.
  for (const prefix of knownBasePaths) {
    app.all(`${prefix}/*`, (request, reply) => {
      const appliance = onlyAppliance([...appliances.keys()].filter(callerOf(request).principal.covers));
      return relay(request, reply, { appliance, path: pathOf(request).slice(prefix.length) });
    });
  }

  async function relay(
    request: FastifyRequest,
    reply: FastifyReply,
    /** `path` is below the API of the appliance. */
    { appliance, path }: { readonly appliance: string; readonly path: string },
  ): Promise<FastifyReply> {
    const context = contextOf(request);
    const caller = callerOf(request);
    const { principal } = caller;
    const { socket } = request.raw;
    const { dryRun, ...adminHeaders } = readAdminHeaders(request.headers);
    if (adminHeaders.reason !== undefined) context.reason = adminHeaders.reason;
    // Set only if the appliance is configured, or clients could invent label values.
    context.appliance = gateway.applianceFor({ principal, appliance }).name;
    const target = operations.find(request.method, path);
    context.target = target;
    // Before the body, which costs memory until it has come whole.
    authorise(principal, target);
    // The connection is silent while an appliance works: the limits of the gateway end the call.
    socket.setTimeout(0);
    try {
      const body = await bodies.read(request, target.operation.row.body);
      const call: AdminCall = { ...caller, id: request.id, appliance, target, body, ...adminHeaders, stage: 'new' };
      context.call = call;
      if (dryRun) return reply.send(await gateway.dryRun(call));
      const response = await gateway.send(call);
      if (response === 'needs_approval') return reply.send(accepted(reply, await changes.submitCall(call)));
      return reply.code(response.status).headers(response.headers).send(response.body);
    } finally {
      socket.setTimeout(app.server.timeout);
    }
  }
}

function onlyAppliance(covered: readonly string[]): string {
  const [only, ...more] = covered;
  if (only !== undefined && more.length === 0) return only;
  throw new AdminProblem('appliance_not_named', {
    detail: `This path names no appliance, and the token covers ${covered.length} of those configured.`,
  });
}
