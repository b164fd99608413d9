import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { parseListenAddress } from '../lib/address.ts';
import { certificateProblem, guardHandshakes } from '../lib/handshakes.ts';
import type { Secret } from '../lib/secret.ts';
import { listenError } from '../lib/listen.ts';
import { type FrameFault, FrameReader, type FrameSink, maxLineBytes } from './frames.ts';

export interface ReceiverSettings {
  /** `host:port`; without it, no datagrams are received. */
  readonly listenUdp?: string | undefined;
  readonly listenTcp?: string | undefined;
  /** For `listenTcp`. */
  readonly tls?: ReceiverTls | undefined;
}

/** PEM; with `clientCa`, only clients with such a certificate connect. */
export interface ReceiverTls {
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa?: string | undefined;
}

/** Takes the lines of one sender: a connection waits over its limit, a datagram is thrown away. */
export interface Sender extends FrameSink {
  fault(fault: FrameFault | 'over_limit'): void;
}

export const refusalReasons = ['sender', 'connections', 'share', 'tls', 'idle'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export interface LineSink {
  /** Returns undefined for an address that may not send. */
  senderOf(address: string): Sender | undefined;
  /** Counts what was refused before it was read; logs it if `because` says why. */
  refused(reason: RefusalReason, because?: string, address?: string): void;
}

export interface Receiver {
  readonly address: string;
  close(): Promise<void>;
}

export interface StreamReceiver extends Receiver {
  /** Takes new connections by TLS, or by plain TCP if undefined, and ends the open ones. */
  present(tls: TlsServer | undefined): void;
}

export const maxConnections = 256;
/** Each appliance has one connection, and a second one while the first ends. */
export const maxOfSender = 16;
const handshakeTimeout = 10_000;
/** A sender connects when it has a line, and may be silent for long after it. */
export const firstBytesMs = 60_000;
export const idleMs = 3_600_000;
/** How long a connection waits whose sender is over its limit. */
const restMs = 100;
/** Lets the kernel keep a few thousand lines while the program is busy. */
const recvBufferSize = 1_048_576;

/** Receives a line in each datagram; rejects with a ListenError. */
export async function receiveDatagrams(address: string, sink: LineSink): Promise<Receiver> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  const socket = createSocket({ type: host === '' || isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize });
  socket.on('message', (bytes, { address: from }) => {
    const sender = sink.senderOf(from);
    if (!sender) sink.refused('sender');
    else if (sender.isOverLimit) sender.fault('over_limit');
    else if (bytes.length > maxLineBytes) sender.fault('too_long');
    else sender.line(bytes.toString('latin1'));
  });
  socket.bind({ port, ...(host !== '' && { address: host }) });
  await untilListening(socket, address, 'requests.listen_udp');
  return { address: `${host}:${socket.address().port}`, close: () => socket[Symbol.asyncDispose]() };
}

/**
 * Creates the server that makes handshakes. It does not listen itself, so that a reload can replace
 * it.
 */
export function createHandshakes({ cert, key, clientCa }: ReceiverTls, sink: LineSink): TlsServer {
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  const server = createTlsServer({ cert, key: key.reveal(), handshakeTimeout, ...clients });
  guardHandshakes(server, {
    problemOf: (socket) => (clientCa === undefined ? undefined : certificateProblem(socket)),
    onRefused: (because, address) => sink.refused('tls', because, address),
  });
  return server;
}

/** Receives lines by TCP, or by TLS with `handshakes`; rejects with a ListenError. */
export async function receiveStreams(
  address: string,
  handshakes: TlsServer | undefined,
  sink: LineSink,
  patience = { firstBytesMs, idleMs },
): Promise<StreamReceiver> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  const sockets = new Map<Socket, Sender>();
  const server = createServer();
  const read = (socket: Socket): void => {
    // Its client certificate may have been refused.
    if (!socket.destroyed) readStream(socket, sink, patience);
  };
  let tls = handshakes?.on('secureConnection', read);
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const sender = sink.senderOf(socket.remoteAddress ?? '');
    if (!sender) return refuse(socket, 'sender', sink);
    if (sockets.size >= maxConnections) return refuse(socket, 'connections', sink);
    if ([...sockets.values()].filter((each) => each === sender).length >= maxOfSender)
      return refuse(socket, 'share', sink);
    sockets.set(socket.setKeepAlive(true, 60_000), sender);
    socket.once('close', () => sockets.delete(socket));
    if (tls) tls.emit('connection', socket);
    else read(socket);
  });
  server.listen({ port, ...(host !== '' && { host }) });
  await untilListening(server, address, 'requests.listen_tcp');
  const bound = server.address();
  const endAll = (): void => {
    for (const socket of sockets.keys()) socket.destroy();
  };
  return {
    address: `${host}:${typeof bound === 'object' && bound ? bound.port : port}`,
    present(next) {
      tls = next?.on('secureConnection', read);
      endAll();
    },
    async close() {
      endAll();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Rejects with a ListenError that names the `setting` of the address. */
async function untilListening(server: Server | DatagramSocket, address: string, setting: string): Promise<void> {
  await once(server, 'listening').catch((error: unknown) => {
    server.close();
    throw listenError(error, address, setting);
  });
  // An error from now on is about one sender, and none of the others.
  server.on('error', () => undefined);
}

function refuse(socket: Socket, reason: RefusalReason, sink: LineSink): void {
  sink.refused(reason);
  socket.destroy();
}

function readStream(socket: Socket, sink: LineSink, patience: { firstBytesMs: number; idleMs: number }): void {
  const from = socket.remoteAddress ?? '';
  const frames = new FrameReader();
  const read = (bytes?: Buffer): void => {
    // Each time: a reload may give the address to another appliance, or to none.
    const sender = sink.senderOf(from);
    if (!sender) return refuse(socket, 'sender', sink);
    if (frames.read(sender, bytes)) {
      socket.resume();
      return;
    }
    // Unread lines stay with the sender: nothing is lost, however many connections it has.
    socket.pause();
    setTimeout(read, restMs).unref();
  };
  socket.setTimeout(patience.firstBytesMs, () => refuse(socket, 'idle', sink));
  socket.once('data', () => socket.setTimeout(patience.idleMs));
  socket.on('data', read);
  socket.on('end', () => {
    const sender = sink.senderOf(from);
    if (sender) frames.end(sender);
  });
  socket.on('error', () => socket.destroy());
}
