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
import { knownBasePaths } from '../appliance/route.ts';
import { assert } from '../lib/check.ts';
import { type AccessLog, createAccessLog } from './access-log.ts';
import { registerAdminRelay, unknownPath } from './admin-relay.ts';
import { type AdminRoutesParts, registerAdminRoutes } from './admin-routes.ts';
import { type AdminServerTls, createAdminServer } from './admin-server.ts';
import { createAuthenticator, rejectTokenInQuery } from './authenticate.ts';
import { cutConnectionsOnClose } from './cut-connections.ts';
import { registerDocs } from './docs-page.ts';
import { openApiDocument } from './openapi/document.ts';
import { sendProblem, toProblem } from './problem-response.ts';
import { pathOf, rejectCrossOrigin, rejectUnsupportedRequest, routableTarget } from './request-checks.ts';
import type { RequestContext } from './request-context.ts';

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
/** Headers for answers of appliances: browsers must treat them as data only, and not store them. */
const privateHeaders = {
  ...safeHeaders,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
} as const;
/**
 * Time for requests under way after the server began to close; connections still open then are cut.
 */
const closeGraceMs = 2_500;

/** Creates the listener for changes. Only the documentation is served without a token. */
export async function createAdminApp(parts: AdminAppParts): Promise<FastifyInstance> {
  const { principals, log, build } = parts;
  const contexts = createContexts();
  const accessLog = createAccessLog(parts);
  const app = createApp(parts);
  await app.register(rateLimit, { global: false });
  const authenticate = createAuthenticator(app, principals, (request, { code }, known) => {
    log.warn({ code, address: request.ip }, 'request without a valid token');
    // The principal of an expired token is known, and is audited.
    Object.assign(contexts.of(request), known);
  });
  await registerDocs(app, { document: openApiDocument(build) });
  cutConnectionsOnClose(app, closeGraceMs);

  app.addHook('onRequest', async (request, reply) => {
    const context = contexts.start(request, reply);
    // On `close`, not when the answer is sent: a caller that leaves early is logged too.
    reply.raw.once('close', () => accessLog.finished(request, reply, context));
    const isPublic = publicPaths.test(pathOf(request));
    void reply.headers({ 'x-request-id': request.id, ...(isPublic ? safeHeaders : privateHeaders) });
    if (isPublic) {
      rejectUnsupportedRequest(request);
      return;
    }
    Object.assign(context, await authenticate(request));
    rejectTokenInQuery(request.originalUrl);
    rejectUnsupportedRequest(request);
    rejectCrossOrigin(request);
  });
  setErrorHandlers(app, { contexts, accessLog, log });
  registerAdminRoutes(app, { ...parts, contextOf: contexts.of });
  registerAdminRelay(app, { ...parts, contextOf: contexts.of });
  return app;
}

function createApp({ tls, timeoutMs, metrics }: AdminAppParts): FastifyInstance {
  const app = fastify({
    logger: false,
    connectionTimeout: timeoutMs + 30_000,
    routerOptions: { maxParamLength: 2_048 },
    // A client must not choose the ids in our records.
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    serverFactory: (handler) =>
      createAdminServer({
        tls,
        onRefused: ({ code }) => metrics.denied({ appliance: '', principal: '', reason: code }),
        handler,
      }),
    // The admin server has answered already.
    clientErrorHandler: () => undefined,
    rewriteUrl: ({ url = '' }) => routableTarget(url),
  });
  // All methods, so that a wrong one gets 405 with the right ones. Fastify parses no body: the
  // gateway reads it when the operation is known, with the limits of its kind.
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true });
  return app;
}

interface Contexts {
  start(request: FastifyRequest, reply: FastifyReply): RequestContext;
  of(this: void, request: FastifyRequest): RequestContext;
}

function createContexts(): Contexts {
  const contexts = new WeakMap<FastifyRequest, RequestContext>();
  return {
    start(request, reply) {
      const context = createContext(request, reply);
      contexts.set(request, context);
      return context;
    },
    of(request) {
      const context = contexts.get(request);
      assert(context, 'every request has a context');
      return context;
    },
  };
}

function createContext(request: FastifyRequest, reply: FastifyReply): RequestContext {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const compatible = knownBasePaths.some((prefix) => request.originalUrl.startsWith(prefix));
  return { id: request.id, compatible, signal: gone.signal, startedAtMs: performance.now() };
}

interface ErrorHandlerParts {
  readonly contexts: Contexts;
  readonly accessLog: AccessLog;
  readonly log: Logger;
}

function setErrorHandlers(app: FastifyInstance, { contexts, accessLog, log }: ErrorHandlerParts): void {
  app.setErrorHandler(async (error, request, reply) => {
    const context = contexts.of(request);
    const problem = toProblem(error);
    // A stack trace of ours would not explain why an appliance is unreachable.
    if (problem.code === 'internal_error' && !context.signal.aborted)
      log.error({ err: problem.cause ?? error, request: context.id }, 'admin request failed');
    else if (problem.status >= 500 && !context.signal.aborted)
      log.warn({ code: problem.code, because: problem.message, request: context.id }, 'admin request failed');
    await accessLog.rejected(request, context, problem);
    return sendProblem(reply, problem, context);
  });
  app.setNotFoundHandler((request) => {
    const path = pathOf(request);
    const methods = METHODS.filter((method) => app.hasRoute({ method, url: path }));
    throw methods.length > 0 ? methodNotAllowed(methods) : unknownPath();
  });
}

function methodNotAllowed(methods: readonly string[]): AdminProblem {
  return new AdminProblem('method_not_allowed', {
    detail: `The path takes ${methods.join(', ')}; nothing was sent.`,
    remedy: 'Use one of the methods in the Allow header.',
    headers: { allow: methods.join(', ') },
  });
}
