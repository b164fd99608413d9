import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { errorCode } from '../lib/check.ts';
import { largestShare } from '../lib/shares.ts';

export interface ConnectionsOptions {
  /** Maximum of open connections: polling and scrapes need file descriptors too. */
  readonly maxConnections: number;
  readonly responseTo: (malformed: MalformedRequest) => RawResponse;
}

export const maxHeaderSize = 16_384;

/** Bytes that are not a request. */
export interface MalformedRequest {
  readonly status: 400 | 408 | 431;
  /** A sentence without its full stop. */
  readonly because: string;
}

/** A response for a connection without a valid request. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface OpenConnection {
  readonly socket: Socket;
  /** The unanswered requests, in their order. */
  readonly unanswered: ServerResponse[];
  hasAsked: boolean;
  isRetired: boolean;
}

/** The most unanswered requests of a connection; nearly all clients have one. */
export const maxPipelined = 16;

/** The open connections by `connectionKey`, longest idle first. */
type OpenConnections = Map<string, OpenConnection>;

/**
 * Guards the connections of one listener, where Node and fastify have no option for it
 * (docs/architecture.md):
 *
 * - Node's `maxConnections` refuses the newest client: idle ones would keep Prometheus out.
 * - Node hands over pipelined requests all at once: a later change would overtake an earlier one.
 * - Malformed bytes behind a request would take the response of that request.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open: OpenConnections = new Map();
  readonly #refused = new WeakSet<Socket>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Adds the guard to a listener; no other hook may come before. */
  attach(app: FastifyInstance): void {
    const open = this.#open;
    app.server.on('connection', (socket: Socket) => admit(open, socket, this.#options.maxConnections));
    app.addHook('onRequest', ({ raw }, reply, done) => runInOrder(open, { request: raw, response: reply.raw }, done));
  }

  /** Responds to bytes that are not a request, and closes their connection. */
  answerMalformed(error: unknown, socket: Socket): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const code = errorCode(error);
    // A connection that failed, or did not complete its handshake, gets no response: it would stay
    // open.
    if (!socket.writable || !/^(?:HPE|ERR_HTTP)_/.test(code)) {
      socket.destroy();
      return;
    }
    // A complete request may be executed already: it gets its own response, and the malformed rest
    // gets none.
    const last = this.#open.get(connectionKey(socket))?.unanswered.findLast(({ req }) => req.complete);
    if (last) last.once('close', () => socket.end());
    else socket.end(rawText(this.#options.responseTo(malformedRequest(code))));
  }

  /** Closes each connection when it is idle, so that clients connect again. */
  retire(): void {
    for (const connection of this.#open.values()) {
      if (connection.unanswered.length > 0) connection.isRetired = true;
      else connection.socket.destroy();
    }
  }
}

/** Adds a connection; at the limit it closes another one for it, or else the new one. */
function admit(open: OpenConnections, socket: Socket, maxConnections: number): void {
  // The client has disconnected already.
  if (socket.remoteAddress === undefined) {
    socket.destroy();
    return;
  }
  const key = connectionKey(socket);
  if (open.size >= maxConnections) {
    const evicted = connectionToEvict([...open.values()], socket.remoteAddress);
    if (!evicted) {
      socket.destroy();
      return;
    }
    open.delete(connectionKey(evicted.socket));
    evicted.socket.destroy();
  }
  const connection = { socket, unanswered: [], hasAsked: false, isRetired: false };
  open.set(key, connection);
  socket.once('close', () => {
    if (open.get(key) === connection) open.delete(key);
  });
}

interface RequestPair {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Calls `proceed` once the earlier requests of the connection are answered. */
function runInOrder(open: OpenConnections, { request, response }: RequestPair, proceed: () => void): void {
  const { socket } = request;
  // The client was rejected during the handshake; this request came along with it.
  if (socket.destroyed) return;
  const key = connectionKey(socket);
  const connection = open.get(key);
  // Only an injected request, of a test, has no connection.
  if (!connection) {
    proceed();
    return;
  }
  const { unanswered } = connection;
  const previous = unanswered.at(-1);
  connection.hasAsked = true;
  unanswered.push(response);
  response.once('close', () => {
    unanswered.splice(unanswered.indexOf(response), 1);
    if (unanswered.length > 0) return;
    if (connection.isRetired) socket.destroySoon();
    if (open.delete(key)) open.set(key, connection);
  });
  if (unanswered.length > maxPipelined) socket.destroy();
  else if (previous) previous.once('close', () => socket.writable && proceed());
  else proceed();
}

/**
 * Returns the connection to close for a new client, if any: an idle one, first of the network that
 * has most connections, else a busy one of that network. A client that does not read its responses
 * must not keep Prometheus out.
 */
function connectionToEvict(all: readonly OpenConnection[], newcomer: string): OpenConnection | undefined {
  const largest = largestShare(all, ({ socket }) => networkOf(socket.remoteAddress), networkOf(newcomer));
  return firstIdle(largest.members) ?? firstIdle(all) ?? (largest.mayEvict ? largest.members[0] : undefined);
}

/**
 * Returns an idle connection; one that never sent a request goes before Prometheus between two
 * scrapes.
 */
function firstIdle(connections: readonly OpenConnection[]): OpenConnection | undefined {
  const idle = connections.filter(({ unanswered }) => unanswered.length === 0);
  return idle.find(({ hasAsked }) => !hasAsked) ?? idle[0];
}

/**
 * Returns a key that is unique among open connections; a TLS socket has the key of the socket
 * beneath it.
 */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}

/** Explains the code of an error of Node's HTTP parser. */
function malformedRequest(code: string): MalformedRequest {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, because: `The headers are longer than ${maxHeaderSize} bytes` };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, because: 'The request did not arrive in time' };
    default:
      return { status: 400, because: 'This is not a valid HTTP request' };
  }
}

/** Returns a complete HTTP/1.1 response that closes the connection. */
function rawText({ status, headers, body }: RawResponse): string {
  const all = {
    connection: 'close',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/**
 * Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address: a machine may own all
 * addresses below them.
 */
export function networkOf(address = ''): string {
  // A dot marks an IPv4 address that is mapped to IPv6.
  if (isIP(address) !== 6 || address.includes('.')) return address;
  const [head = [], tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])].slice(0, 4).join(':');
}
