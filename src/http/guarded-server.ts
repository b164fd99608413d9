import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { errorCode } from '../lib/check.ts';
import { type Connection, createConnections } from './connections.ts';

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
  /** The whole answer, as bytes on the wire, to what is no request; `code` is that of Node's error. */
  readonly answerTo: (code: string) => string;
  /** For a handshake, for the first request after it, and for the headers of each; ten seconds. */
  readonly patienceMs?: number | undefined;
}

/** A server that bears clients which send nothing, too slowly, too much or too many at once. */
export interface GuardedServer {
  readonly server: Server;
  /** Closes each connection once it is idle, so that clients come again. */
  retireConnections(): void;
}

interface Client {
  /** Undefined where there was no room for it. */
  readonly connection: Connection | undefined;
  /** Closes it unless it asks for something. */
  readonly silence: NodeJS.Timeout;
  /** In the order of the requests. */
  readonly unanswered: ServerResponse[];
}

export const maxHeaderSize = 16_384;
/** Clients that wait for each answer before they ask again, as nearly all do, have one request under way. */
const mostPipelined = 16;
const mostRequestsOfOneConnection = 10_000;

export function createGuardedServer(parts: GuardedServerParts): GuardedServer {
  const { tls, handler, answerTo, mostConnections, requestTimeoutMs, handlesOddRequests, patienceMs = 10_000 } = parts;
  const clients = new WeakMap<Socket, Client>();
  const refused = new WeakSet<Socket>();
  const connections = createConnections({ most: mostConnections });

  const listener: RequestListener = (request, response) => {
    const { socket } = request;
    // What came along with the handshake of a client that was turned away.
    if (socket.destroyed) return;
    const { connection, silence, unanswered } = clients.get(socket) ?? meet(socket);
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
    if (unanswered.length > mostPipelined) socket.destroy();
    // One after the other, or a later change could overtake an earlier one of the same client, and who sends many
    // requests at once would have all of their answers made at once.
    else if (before) before.once('close', () => socket.writable && handler(request, response));
    else handler(request, response);
  };

  function meet(socket: Socket): Client {
    // Node's own limits begin with the first byte of a request.
    const silence = setTimeout(() => socket.destroy(), patienceMs);
    socket.once('close', () => clearTimeout(silence));
    const client = { connection: connections.of(socket), silence, unanswered: [] };
    clients.set(socket, client);
    return client;
  }

  function refuse(error: unknown, socket: Socket): void {
    if (refused.has(socket)) return;
    refused.add(socket);
    const code = errorCode(error);
    // A connection that failed, or never shook hands, takes no answer: it would stay open to wait for its end.
    if (!socket.writable || !/^(?:HPE|ERR_HTTP)_/.test(code)) {
      socket.destroy();
      return;
    }
    // A request that came whole may be carried out already: it gets its own answer, and what follows it none.
    const last = clients.get(socket)?.unanswered.findLast(({ req }) => req.complete);
    if (last) last.once('close', () => socket.end());
    else socket.end(answerTo(code));
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
  server.on(tls ? 'secureConnection' : 'connection', meet);
  server.on('clientError', refuse);
  if (handlesOddRequests) server.on('checkExpectation', listener);
  return {
    server,
    retireConnections: () => connections.retire(),
  };
}

/** Whether a request has more than one Host header, which RFC 9112 section 3.2 answers with 400. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  // Names stand at the even places, values behind them.
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  return count > 1;
}
