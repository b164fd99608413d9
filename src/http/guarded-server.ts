import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { createConnections } from './connections.ts';

export interface GuardedServerParts {
  readonly tls: TlsOptions | undefined;
  /** Answers a request; those of one connection come one after the other. */
  readonly handler: RequestListener;
  /** More are not open at a time. */
  readonly mostConnections: number;
  /** For one whole request, body included. */
  readonly requestTimeoutMs: number;
  /** Whether the handler answers also what Node refuses by itself: no Host header, an expectation that nobody knows. */
  readonly handlesOddRequests: boolean;
  /** For a handshake, for the first request after it, and for the headers of each; ten seconds. */
  readonly patienceMs?: number | undefined;
}

/** A server that bears clients which send nothing, too slowly, too much or too many at once. */
export interface GuardedServer {
  readonly server: Server;
  /** The answers that a connection still waits for, the oldest first. */
  unansweredOn(socket: Socket): readonly ServerResponse[];
  /** Closes each connection once it is idle, so that clients come again. */
  retireConnections(): void;
}

export const maxHeaderSize = 16_384;
/** Clients that wait for each answer before they ask again, as nearly all do, have one request under way. */
const mostPipelined = 16;
const mostRequestsOfOneConnection = 10_000;

export function createGuardedServer(parts: GuardedServerParts): GuardedServer {
  const { tls, handler, mostConnections, requestTimeoutMs, handlesOddRequests, patienceMs = 10_000 } = parts;
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  const silent = new WeakMap<Socket, NodeJS.Timeout>();
  const connections = createConnections({ most: mostConnections });

  const listener: RequestListener = (request, response) => {
    const { socket } = request;
    // What came along with the handshake of a client that was turned away.
    if (socket.destroyed) return;
    clearTimeout(silent.get(socket));
    const connection = connections.of(socket);
    connection?.busy();
    const responses = unanswered.get(socket) ?? new Set();
    const before = [...responses].at(-1);
    unanswered.set(socket, responses.add(response));
    response.once('close', () => {
      responses.delete(response);
      if (responses.size > 0) return;
      if (connection?.isRetired) socket.destroySoon();
      connection?.idle();
    });
    if (responses.size > mostPipelined) socket.destroy();
    // One after the other, or a later change could overtake an earlier one of the same client, and who sends many
    // requests at once would have all of their answers made at once.
    else if (before) before.once('close', () => socket.writable && handler(request, response));
    else handler(request, response);
  };

  /** Node's own limits begin with the first byte of a request. */
  function awaitFirstRequest(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), patienceMs);
    silent.set(socket, timer);
    socket.once('close', () => clearTimeout(timer));
  }

  const limits = {
    maxHeaderSize,
    headersTimeout: patienceMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: patienceMs / 5,
    requireHostHeader: !handlesOddRequests,
  };
  const server = tls
    ? createTlsServer({ ...limits, ...tls, handshakeTimeout: patienceMs }, listener)
    : createServer(limits, listener);
  server.maxRequestsPerSocket = mostRequestsOfOneConnection;
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.on(tls ? 'secureConnection' : 'connection', awaitFirstRequest);
  if (handlesOddRequests) server.on('checkExpectation', listener);
  return {
    server,
    unansweredOn: (socket) => [...(unanswered.get(socket) ?? [])],
    retireConnections: () => connections.retire(),
  };
}
