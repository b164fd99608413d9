import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import type { Gateway } from '../calls/gateway.ts';
import { AdminProblem, methodNotAllowed, unknownPath } from '../policy/problem.ts';
import type { Principals } from '../policy/principal.ts';
import type { Recorder } from '../calls/recorder.ts';
import type { BodyLimits } from '../calls/request-body.ts';
import type { Changes } from '../changes/changes.ts';
import type { Proposals } from '../changes/proposals.ts';
import { TokenBuckets } from '../../lib/token-bucket.ts';
import {
  clientCertificateProblem,
  guardHandshakes,
  type ListenerTls,
  listenerTlsOptions,
} from '../../lib/handshakes.ts';
import { ThrottledLog } from '../../lib/throttled-log.ts';
import { recordResponse, recordRefusal } from './access-log.ts';
import { registerRelayRoutes } from './relay-routes.ts';
import { type AdminRoutesParts, registerAdminRoutes } from './admin-routes.ts';
import { createAuthenticator, assertNoTokenInQuery } from './authenticate.ts';
import type { MalformedRequest, RawResponse } from '../../server/connections.ts';
import { registerConsole, registerDocs } from './gateway-pages.ts';
import { type GuardedApp, createGuardedApp, createMethodFinder, pathOf } from '../../server/create-app.ts';
import { contextOf, declareContext, problemBody, sendProblem, startContext, toProblem } from './admin-request.ts';
import { createRequestBodies } from './request-bodies.ts';
import { assertAlertmanagerPath, registerChangeRoutes } from './change-routes.ts';
import { assertNoIgnoredDryRun, assertSameOrigin, assertSupportedRequest } from './request-checks.ts';
import { limitUnfinished } from '../../server/unfinished-responses.ts';

export interface AdminAppParts extends AdminRoutesParts {
  readonly gateway: Gateway;
  readonly principals: Principals;
  readonly recorder: Recorder;
  readonly metrics: AdminMetrics;
  readonly changes: Changes;
  readonly proposals: Proposals;
  /** The appliances by name; a reload changes the content. */
  readonly appliances: ReadonlyMap<string, unknown>;
  readonly bodyLimits: BodyLimits;
  readonly tls?: ListenerTls | undefined;
  /** The longest time without a byte from an appliance. */
  readonly timeoutMs: number;
  readonly build: { readonly version: string };
  readonly log: Logger;
}

const publicPaths = /^\/(?:(?:docs|console)(?:\/|$)|$)/;
const safeHeaders = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;
/** Headers for pages that take a token: the page that opened them must not reach into them. */
const pageHeaders = { ...safeHeaders, 'cross-origin-opener-policy': 'same-origin' } as const;
/** Headers for responses of appliances: browsers must treat them as data only, and not store them. */
const privateHeaders = {
  ...safeHeaders,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
} as const;
export const maxConnections = 256;
const idleTimeoutMs = 10_000;
const keepAliveMs = 5_000;
/** Half an hour: uploads of backups and packages are large, and may come over slow lines. */
const requestTimeoutMs = 1_800_000;
/** Time for requests under way after the gateway began to close. */
export const closeGraceMs = 2_500;

export interface AdminListener {
  readonly app: FastifyInstance;
  /**
   * Uses another certificate, and other client authorities. Ends connections as soon as they are
   * idle: each client must show a certificate again.
   */
  setTls(tls: ListenerTls): void;
  /** Sets another time within which an appliance must send a byte. */
  setTimeout(timeoutMs: number): void;
  /**
   * Takes no new connection, and closes when all requests under way are answered, or when
   * `stopping` aborts.
   */
  retire(stopping: AbortSignal): Promise<void>;
}

/**
 * Lines of the log about requests without a valid token, at once and as many a minute, of all
 * networks together: a client may have thousands of them.
 */
export const failureLinesPerMinute = 300;

/** Creates the listener for changes. Only the documentation and the pages need no token. */
export async function createAdminApp(parts: AdminAppParts): Promise<AdminListener> {
  const { principals, log, build } = parts;
  const throttledLog = new ThrottledLog(log);
  const { app, connections, retire } = createApp(parts);
  let { tls } = parts;
  guardHandshakes(app.server, {
    refusalReason: (socket) => (tls?.clientCa === undefined ? undefined : clientCertificateProblem(socket)),
    onRefused(because, address) {
      parts.metrics.countDenied({ appliance: '', principal: '', reason: 'tls' });
      throttledLog.logRejected(because, address);
    },
  });
  limitUnfinished(app, log);
  declareContext(app);
  setNotFoundHandler(app);
  await app.register(rateLimit, { global: false });
  const lines = TokenBuckets.perMinute(failureLinesPerMinute);
  let others = 0;
  const authenticate = createAuthenticator(app, principals, (request, { code }, known) => {
    if (lines.tryTake('')) {
      log.warn({ code, address: request.ip, ...(others > 0 && { others }) }, 'request without a valid token');
      others = 0;
    } else others += 1;
    // The principal of an expired token is known, and is audited.
    Object.assign(contextOf(request), known);
  });
  // Before the first plug-in with routes, which takes over what is set.
  setErrorHandler(app, parts);
  registerDocs(app, build);

  app.addHook('onRequest', async (request, reply) => {
    const context = startContext(request, reply);
    // On `close`, not when the response is sent: a caller that leaves early is logged too.
    reply.raw.once('close', () => recordResponse(parts, request, reply));
    const isPublic = publicPaths.test(pathOf(request));
    void reply.headers({ 'x-request-id': request.id, ...(isPublic ? pageHeaders : privateHeaders) });
    if (isPublic) {
      assertSupportedRequest(request);
      return;
    }
    Object.assign(context, await authenticate(request));
    assertNoTokenInQuery(request.originalUrl);
    assertSupportedRequest(request);
    assertSameOrigin(request);
    assertNoIgnoredDryRun(request);
    assertAlertmanagerPath(request, context.principal);
  });
  const shared = { ...parts, bodies: createRequestBodies(parts.bodyLimits) };
  registerConsole(app);
  registerAdminRoutes(app, parts);
  registerChangeRoutes(app, shared);
  registerRelayRoutes(app, shared);
  return {
    app,
    setTls(next) {
      tls = next;
      if (app.server instanceof TlsServer) app.server.setSecureContext(listenerTlsOptions(next));
      connections.retire();
    },
    setTimeout(timeoutMs) {
      app.server.timeout = stallTimeoutFor(timeoutMs);
    },
    retire,
  };
}

function createApp({ tls, timeoutMs, metrics }: AdminAppParts): GuardedApp {
  const guarded = createGuardedApp(
    {
      tls: tls && listenerTlsOptions(tls),
      responseTo(malformed) {
        const problem = malformedProblem(malformed);
        metrics.countDenied({ appliance: '', principal: '', reason: problem.code });
        return rawProblem(problem);
      },
      maxConnections,
      requestTimeoutMs,
      idleTimeoutMs,
      keepAliveMs,
      stallTimeoutMs: stallTimeoutFor(timeoutMs),
      closeGraceMs,
      // `assertSupportedRequest` answers them as problem+json.
      handlesUnsupportedRequests: true,
    },
    {
      // A client must not choose the ids in our records.
      genReqId: () => randomUUID(),
      requestIdHeader: false,
    },
  );
  // All methods, so that a wrong one gets 405 with the right ones. Fastify parses no body: the
  // gateway reads it when the operation is known, with the limits of its kind.
  for (const method of METHODS) guarded.app.addHttpMethod(method, { overrideExisting: true });
  return guarded;
}

function setErrorHandler(app: FastifyInstance, parts: AdminAppParts): void {
  app.setErrorHandler(async (error, request, reply) => {
    const problem = toProblem(error);
    if (problem.status >= 500 && !contextOf(request).signal.aborted) {
      // A stack trace of ours would not explain why an appliance is unreachable.
      const { code, message: because, cause = error } = problem;
      if (code === 'internal_error') parts.log.error({ err: cause, request: request.id }, 'admin request failed');
      else parts.log.warn({ code, because, request: request.id }, 'admin request failed');
    }
    await recordRefusal(parts, request, problem);
    return sendProblem(reply, problem);
  });
}

function setNotFoundHandler(app: FastifyInstance): void {
  const methodsOf = createMethodFinder(app);
  app.setNotFoundHandler((request) => {
    const methods = methodsOf(pathOf(request));
    throw methods.length > 0 ? methodNotAllowed(methods) : unknownPath();
  });
}

function rawProblem(problem: AdminProblem): RawResponse {
  const id = randomUUID();
  return {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', 'x-request-id': id },
    body: JSON.stringify(problemBody(problem, id)),
  };
}

function malformedProblem({ status, because }: MalformedRequest): AdminProblem {
  return new AdminProblem(status === 431 ? 'malformed_header' : 'malformed_request', {
    detail: `${because}; nothing was sent.`,
    status,
    ...(status === 408 && { remedy: 'Check the connection of the client.' }),
  });
}

/** Longer than an appliance may take to send a byte. */
function stallTimeoutFor(timeoutMs: number): number {
  return timeoutMs + 30_000;
}
