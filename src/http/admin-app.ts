import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import rateLimit from '@fastify/rate-limit';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from '../admin/admin-metrics.ts';
import type { Gateway } from '../admin/gateway.ts';
import { AdminProblem } from '../admin/problem.ts';
import type { Principals } from '../admin/principal.ts';
import type { Recorder } from '../admin/recorder.ts';
import { knownBasePaths } from '../appliance/base-paths.ts';
import { assert } from '../lib/check.ts';
import { percentDecoded } from '../lib/percent-decoded.ts';
import { readAdminHeaders } from './admin-headers.ts';
import { type AdminRoutesParts, registerAdminRoutes } from './admin-routes.ts';
import { type AdminServerTls, createAdminServer } from './admin-server.ts';
import { createAuthenticator, refuseTokenInQuery } from './authenticate.ts';
import { cutConnectionsOnClose } from './cut-connections.ts';
import { registerDocs } from './docs-page.ts';
import { openApiDocument } from './openapi/document.ts';
import { sendProblem, toProblem } from './problem-answer.ts';
import type { RequestContext } from './request-context.ts';
import { pathOf, refuseOddForm, routableTarget } from './request-target.ts';
import { refuseStrangers } from './same-origin.ts';
import { createUnfinishedBodies } from './unfinished-bodies.ts';
import { createWitness } from './witness.ts';

export interface AdminAppParts extends Omit<AdminRoutesParts, 'contextOf'> {
  readonly gateway: Gateway;
  readonly principals: Principals;
  readonly recorder: Recorder;
  readonly metrics: AdminMetrics;
  readonly tls?: AdminServerTls | undefined;
  /** The longest time an appliance may leave a caller without a byte. */
  readonly timeoutMs: number;
  readonly build: { readonly version: string };
  readonly log: Logger;
}

const publicPaths = /^\/docs(?:\/|$)/;
const safeHeaders = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;
/** What an appliance says is shown as nothing but data, and kept by nobody. */
const privateHeaders = {
  ...safeHeaders,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
} as const;
/** How long requests under way may take once the server closes; what is open then is cut. */
const closeGraceMs = 2_500;

/** The listener for changes. Nothing but the documentation is answered without a token. */
export async function createAdminApp(parts: AdminAppParts): Promise<FastifyInstance> {
  const { gateway, principals, metrics, log, build } = parts;
  const witness = createWitness(parts);
  const unfinishedBodies = createUnfinishedBodies();
  const contexts = new WeakMap<FastifyRequest, RequestContext>();
  const app = fastify({
    logger: false,
    connectionTimeout: parts.timeoutMs + 30_000,
    routerOptions: { maxParamLength: 2_048 },
    // Numbers that a client chooses would let it write into our records.
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    serverFactory: (handler) =>
      createAdminServer({
        tls: parts.tls,
        onRefused: ({ code }) => metrics.denied({ appliance: '', principal: '', reason: code }),
        handler,
      }),
    // The server beneath has answered.
    clientErrorHandler: () => undefined,
    rewriteUrl: ({ url = '' }) => routableTarget(url),
  });
  await app.register(rateLimit, { global: false });
  const authenticate = createAuthenticator(app, principals, (request, { code }, known) => {
    log.warn({ code, address: request.ip }, 'request without a valid token');
    // Whose token expired is known, and is written down.
    Object.assign(contextOf(request), known);
  });
  await registerDocs(app, { document: openApiDocument(build) });

  // All methods, so that a wrong one is told which are right; none with a body, which is read where the operation is
  // known, with the limits of its kind.
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true });
  cutConnectionsOnClose(app, closeGraceMs);

  app.addHook('onRequest', async (request, reply) => {
    const context = createContext(request, reply);
    contexts.set(request, context);
    // Not when the answer is sent: of a caller that left there would be no word.
    reply.raw.once('close', () => witness.over(request, reply, context));
    const isPublic = publicPaths.test(pathOf(request));
    void reply.headers({ 'x-request-id': request.id, ...(isPublic ? safeHeaders : privateHeaders) });
    if (isPublic) {
      refuseOddForm(request);
      return;
    }
    Object.assign(context, await authenticate(request));
    refuseTokenInQuery(request.originalUrl);
    refuseOddForm(request);
    refuseStrangers(request);
  });
  app.setErrorHandler(async (error, request, reply) => {
    const context = contextOf(request);
    const problem = toProblem(error);
    // An appliance that cannot be reached is nothing that a stack trace of ours explains.
    if (problem.code === 'internal_error' && !context.signal.aborted)
      log.error({ err: problem.cause ?? error, request: context.id }, 'admin request failed');
    else if (problem.status >= 500 && !context.signal.aborted)
      log.warn({ code: problem.code, because: problem.message, request: context.id }, 'admin request failed');
    await witness.refused(request, context, problem);
    return sendProblem(reply, problem, context);
  });
  app.setNotFoundHandler((request) => {
    const path = pathOf(request);
    const methods = METHODS.filter((method) => app.hasRoute({ method, url: path }));
    throw methods.length > 0 ? methodNotAllowed(methods) : unknownPath();
  });

  registerAdminRoutes(app, { ...parts, contextOf });
  app.all('/appliances/*', (request, reply) => {
    const [, , name = '', ...rest] = pathOf(request).split('/');
    if (rest.length === 0) throw unknownPath();
    return relay(request, reply, { appliance: percentDecoded(name) ?? '', path: `/${rest.join('/')}` });
  });
  // Where existing clients look for the API.
  for (const prefix of knownBasePaths) {
    app.all(`${prefix}/*`, (request, reply) => {
      const context = contextOf(request);
      return relay(request, reply, { appliance: onlyAppliance(context), path: pathOf(request).slice(prefix.length) });
    });
  }
  return app;

  function contextOf(request: FastifyRequest): RequestContext {
    const context = contexts.get(request);
    assert(context, 'every request has a context');
    return context;
  }

  async function relay(
    request: FastifyRequest,
    reply: FastifyReply,
    { appliance, path }: { readonly appliance: string; readonly path: string },
  ): Promise<FastifyReply> {
    const context = contextOf(request);
    const { principal, token, id, signal } = context;
    assert(principal && token, 'who calls is known by now');
    const { raw, headers } = request;
    const wishes = readAdminHeaders(headers);
    if (wishes.reason !== undefined) context.reason = wishes.reason;
    // Named in metrics and audit only once it is known to exist, or strangers would make up series.
    context.appliance = gateway.applianceFor({ principal, appliance }).name;
    const contentLength = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    const hasBody = headers['transfer-encoding'] !== undefined || (contentLength ?? 0) > 0;
    if (hasBody) await unfinishedBodies.admit(principal.name, raw);
    // Nothing passes on the connection while an appliance works: the limits of the gateway end the call.
    raw.socket.setTimeout(0);
    const answering = gateway.handle({
      id,
      principal,
      token,
      appliance,
      method: request.method,
      path,
      contentType: headers['content-type'],
      contentLength,
      body: hasBody ? raw : undefined,
      ...wishes,
      signal,
      onCall: (call) => {
        context.call = call;
      },
      onSending: (overridden) => {
        context.sent = true;
        context.overridden = overridden;
      },
    });
    const answer = await answering.finally(() => raw.socket.setTimeout(app.server.timeout));
    return reply.code(answer.status).headers(answer.headers).send(answer.body);
  }

  function onlyAppliance({ principal }: RequestContext): string {
    const covered = principal ? parts.applianceNamesOf(principal) : [];
    const [only, ...more] = covered;
    if (only !== undefined && more.length === 0) return only;
    throw new AdminProblem('appliance_not_named', {
      detail: `This path names no appliance, and the token covers ${covered.length} of those configured.`,
      remedy: 'Use /appliances/NAME/…, or a token whose `appliances` names exactly one.',
    });
  }
}

function createContext(request: FastifyRequest, reply: FastifyReply): RequestContext {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const compatible = knownBasePaths.some((prefix) => request.originalUrl.startsWith(prefix));
  return { id: request.id, compatible, signal: gone.signal, startedAtMs: performance.now() };
}

function methodNotAllowed(methods: readonly string[]): AdminProblem {
  return new AdminProblem('method_not_allowed', {
    detail: `The path takes ${methods.join(', ')}; nothing was sent.`,
    remedy: 'Use one of the methods in the Allow header.',
    headers: { allow: methods.join(', ') },
  });
}

function unknownPath(): AdminProblem {
  return new AdminProblem('unknown_path', {
    detail: 'The gateway has no such path; nothing was sent.',
    remedy: 'The API of an appliance is under /appliances/NAME/…, such as /appliances/NAME/farms; see GET /docs.',
  });
}
