import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { errorCode } from '../lib/check.ts';
import { type ClientConnection, createConnections } from './connections.ts';

export interface GuardedServerParts {
  readonly tls: TlsOptions | undefined;
  /** Answers a request; gets the requests of one connection one after the other. */
  readonly handler: RequestListener;
  /** Maximum of open connections. */
  readonly maxConnections: number;
  /** Limit for receiving one whole request, body included. */
  readonly requestTimeoutMs: number;
  /**
   * True if the handler also answers what Node refuses by itself: no Host header, an unknown
   * expectation.
   */
  readonly handlesUnsupportedRequests: boolean;
  /** Returns the raw HTTP response to a malformed request; `code` is the code of Node's error. */
  readonly responseTo: (code: string) => string;
  /**
   * Limit for the handshake, for the first request after it, and for the headers of each; default
   * 10 s.
   */
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * A server that survives clients which send nothing, too slowly, too much or too many requests at
 * once.
 */
export interface GuardedServer {
  readonly server: Server;
  /** Closes each connection when it is idle, so that clients connect again. */
  retireConnections(): void;
}

interface Client {
  /** Undefined if the connection was rejected at the limit. */
  readonly connection: ClientConnection | undefined;
  /** Closes the connection unless a request comes. */
  readonly silence: NodeJS.Timeout;
  /** In the order of the requests. */
  readonly unanswered: ServerResponse[];
}

export const maxHeaderSize = 16_384;
/** Nearly all clients wait for each answer before they send the next request. */
const maxPipelined = 16;
const maxRequestsPerConnection = 10_000;

export function createGuardedServer(parts: GuardedServerParts): GuardedServer {
  const { tls, handler, responseTo, maxConnections, handlesUnsupportedRequests, idleTimeoutMs = 10_000 } = parts;
  const clients = new WeakMap<Socket, Client>();
  const refused = new WeakSet<Socket>();
  const connections = createConnections({ maxConnections });

  const listener: RequestListener = (request, response) => {
    const { socket } = request;
    // The client was rejected during the handshake; this request came along with it.
    if (socket.destroyed) return;
    const { connection, silence, unanswered } = clients.get(socket) ?? track(socket);
    clearTimeout(silence);
    connection?.busy();
    const before = unanswered.at(-1);
    unanswered.push(response);
    response.on('close', () => {
      unanswered.splice(unanswered.indexOf(response), 1);
      if (unanswered.length > 0) return;
      if (connection?.isRetired) socket.destroySoon();
      connection?.idle();
    });
    if (unanswered.length > maxPipelined) socket.destroy();
    // One after the other: a later change must not overtake an earlier one of the same client, and
    // pipelined requests must not all be answered at once.
    else if (before) before.once('close', () => socket.writable && handler(request, response));
    else handler(request, response);
  };

  function track(socket: Socket): Client {
    // Node's own limits start only with the first byte of a request.
    const silence = setTimeout(() => socket.destroy(), idleTimeoutMs);
    socket.once('close', () => clearTimeout(silence));
    const client = { connection: connections.of(socket), silence, unanswered: [] };
    clients.set(socket, client);
    return client;
  }

  function refuse(error: unknown, socket: Socket): void {
    if (refused.has(socket)) return;
    refused.add(socket);
    const code = errorCode(error);
    // A connection that failed, or did not complete its handshake, gets no answer: it would stay
    // open.
    if (!socket.writable || !/^(?:HPE|ERR_HTTP)_/.test(code)) {
      socket.destroy();
      return;
    }
    // A complete request may be executed already: it gets its own answer, and the malformed rest
    // gets none.
    const last = clients.get(socket)?.unanswered.findLast(({ req }) => req.complete);
    if (last) last.once('close', () => socket.end());
    else socket.end(responseTo(code));
  }

  const server = createPlainOrTlsServer(parts, idleTimeoutMs, listener);
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.on(tls ? 'secureConnection' : 'connection', track);
  server.on('clientError', refuse);
  if (handlesUnsupportedRequests) server.on('checkExpectation', listener);
  return {
    server,
    retireConnections: () => connections.retire(),
  };
}

function createPlainOrTlsServer(parts: GuardedServerParts, idleTimeoutMs: number, listener: RequestListener): Server {
  const { tls, requestTimeoutMs, handlesUnsupportedRequests } = parts;
  const limits = {
    maxHeaderSize,
    headersTimeout: idleTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: idleTimeoutMs / 5,
    requireHostHeader: !handlesUnsupportedRequests,
  };
  const server = tls
    ? createTlsServer({ ...limits, ...tls, handshakeTimeout: idleTimeoutMs }, listener)
    : createServer(limits, listener);
  server.maxRequestsPerSocket = maxRequestsPerConnection;
  return server;
}

/** Returns true for more than one Host header, which RFC 9112 section 3.2 answers with 400. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  // `rawHeaders` alternates names and values.
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  return count > 1;
}
