// Creates the fastify app of a listener with the limits that both listeners need: sizes, times, the
// number of connections, and slow clients. The caller adds the routes and closes the app.
// connections.ts owns the open connections; metrics-app.ts has the routes of the metrics listener,
// and admin/http/admin-app.ts those of the gateway. web-access.ts checks who asks.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  type FastifyTypeProvider,
  fastify,
} from 'fastify';
import type { Static, TSchema } from 'typebox';
import { CountedRequest, readInPortions } from '../lib/counted-request.ts';
import { decodePercent } from '../lib/text.ts';
import { Connections, type ConnectionsOptions, maxHeaderSize } from './connections.ts';

export interface GuardedAppOptions extends ConnectionsOptions {
  readonly tls: TlsOptions | undefined;
  /** Limit for receiving one whole request, body included. */
  readonly requestTimeoutMs: number;
  /** Limit for the handshake, for the first request after it, and for the headers of each. */
  readonly idleTimeoutMs: number;
  /** The time for which an idle connection stays open after a response. */
  readonly keepAliveMs: number;
  /** A connection that transfers nothing for this time is cut. */
  readonly stallTimeoutMs: number;
  /** Time for requests under way after closing began; connections still open then are cut. */
  readonly closeGraceMs: number;
  /**
   * True if the hooks of the app also answer what Node refuses by itself: no Host header, an
   * unknown expectation.
   */
  readonly handlesUnsupportedRequests: boolean;
}

/** A fastify instance that survives clients which send nothing, too slowly or too much. */
export interface GuardedApp {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  /**
   * Takes no new connection, and closes the app when all requests under way are answered, or when
   * `stopping` aborts.
   */
  readonly retire: (stopping: AbortSignal) => Promise<void>;
}

/** Gives a request the types of its route's TypeBox schemas. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

const maxRequestsPerConnection = 10_000;

export function createGuardedApp(options: GuardedAppOptions, serverOptions: FastifyServerOptions = {}): GuardedApp {
  const { tls, idleTimeoutMs, requestTimeoutMs, closeGraceMs, handlesUnsupportedRequests } = options;
  const connections = new Connections(options);
  const limits = {
    maxHeaderSize,
    headersTimeout: idleTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: idleTimeoutMs / 5,
    requireHostHeader: !handlesUnsupportedRequests,
    IncomingMessage: CountedRequest,
  };
  const shared = {
    ...serverOptions,
    logger: false,
    connectionTimeout: options.stallTimeoutMs,
    keepAliveTimeout: options.keepAliveMs,
    requestTimeout: requestTimeoutMs,
    maxRequestsPerSocket: maxRequestsPerConnection,
    // Longer parameters would be refused before any hook runs.
    routerOptions: { maxParamLength: maxHeaderSize },
    rewriteUrl: ({ url = '' }: { readonly url?: string | undefined }) => routableTarget(url),
    // An unknown parameter is an error where a schema says so; a single value may be a list of one.
    // As in decode.ts: what is checked and optimised at the start takes longer than to compile it.
    ajv: {
      customOptions: {
        removeAdditional: false,
        coerceTypes: 'array' as const,
        validateSchema: false,
        code: { optimize: false },
      },
    },
    // Routes describe their responses only for the documentation: JSON.stringify writes them, and the
    // package that would compile their schemas is not loaded.
    schemaController: { compilersFactory: { buildSerializer: () => () => JSON.stringify } },
    clientErrorHandler: (error: unknown, socket: Socket) => connections.answerMalformed(error, socket),
  };
  // The server of TLS has all that the other one has, so that one type does for both.
  const app = fastify({
    ...shared,
    ...(tls ? { https: { ...limits, ...tls, handshakeTimeout: idleTimeoutMs } } : { http: limits }),
  });
  connections.attach(app);
  const { server } = app;
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => readInPortions(socket));
  // Before the router and all checks: both listeners know only paths.
  server.prependListener('request', (request) => {
    request.url = pathOfTarget(request.url ?? '');
  });
  if (handlesUnsupportedRequests)
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  let isRetired = false;
  app.addHook('preClose', async () => {
    if (isRetired) return;
    // A silent client would keep the process alive.
    const timer = setTimeout(() => server.closeAllConnections(), closeGraceMs).unref();
    server.once('close', () => clearTimeout(timer));
  });
  return {
    app,
    connections,
    async retire(stopping) {
      isRetired = true;
      const cut = (): void => server.closeAllConnections();
      stopping.addEventListener('abort', cut);
      connections.retire();
      await app.close();
      stopping.removeEventListener('abort', cut);
    },
  };
}

/**
 * Returns a function that finds the methods of the routes that fit a path; none for an unknown one.
 * Must be called before routes are registered.
 */
export function createMethodFinder(app: FastifyInstance): (path: string) => readonly string[] {
  const routes: { readonly url: string; readonly methods: string | readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => void routes.push({ url, methods: method }));
  return (path) =>
    [...new Set(routes.filter(({ url }) => matchesRoute(path, url)).flatMap(({ methods }) => methods))].sort();
}

/** True if a path is that of a route, segment by segment and without decoding. */
function matchesRoute(path: string, url: string): boolean {
  const segments = path.split('/');
  const wanted = url.split('/');
  return (
    segments.length === wanted.length &&
    wanted.every((word, index) => (word.startsWith(':') ? segments[index] !== '' : segments[index] === word))
  );
}

/**
 * Replaces a target that the router rejects by one that it accepts: a rejected target would run no
 * hook.
 */
function routableTarget(target: string): string {
  if (!target.startsWith('/')) return '/';
  const [path = '', ...query] = target.split('?');
  return decodePercent(path) === undefined ? [path.replaceAll('%', '%25'), ...query].join('?') : target;
}

/**
 * Returns the path of a target in absolute form, which a server must accept whatever its host (RFC
 * 9112, 3.2.2); any other target as it is.
 */
function pathOfTarget(target: string): string {
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/is.exec(target) ?? [];
  if (path === undefined) return target;
  return path.startsWith('/') ? path : `/${path}`;
}

/** Returns the path as received: neither decoded nor normalised, without the query. */
export function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.replace(/\?.*$/s, '');
}

/** Returns true for more than one Host header, which RFC 9112 section 3.2 answers with 400. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  // `rawHeaders` alternates names and values.
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  return count > 1;
}
