import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Settings } from '../config/settings.ts';
import { parseListenAddress } from '../lib/address.ts';
import { clientCertificateProblem, guardHandshakes, type ListenerTls, listenerTlsOptions } from '../lib/handshakes.ts';
import { listenError } from '../lib/listen.ts';
import { FrameReader, type LineConsumer, maxLineBytes } from './frames.ts';

/** The listeners of the block `requests`; `tls` is for `listenTcp`. */
export type ReceiverSettings = Omit<NonNullable<Settings['requests']>, 'buckets'>;

export const refusalReasons = ['sender', 'connections', 'share', 'tls', 'idle'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Knows which appliance sends from which address. */
export interface SenderDirectory {
  /** Returns undefined for an address that may not send. */
  consumerFor(address: string): LineConsumer | undefined;
  /** Counts a refused datagram or connection; logs it if `because` says why. */
  countRefusal(reason: RefusalReason, because?: string, address?: string): void;
}

export interface Receiver {
  readonly address: string;
  close(): Promise<void>;
}

export interface StreamReceiver extends Receiver {
  /** Accepts TLS from now on, or plain TCP if undefined, and ends the open connections. */
  useTls(tls: TlsServer | undefined): void;
}

export const maxConnections = 256;
/** Each appliance has one connection, and a second one while the first ends. */
export const maxConnectionsPerSender = 16;
const handshakeTimeout = 10_000;
/** A sender connects when it has a line, and may then send nothing for long. */
export const firstBytesMs = 60_000;
export const idleMs = 3_600_000;
/** A connection over the limit of its appliance is read again after this time. */
const retryReadMs = 100;
/** Lets the kernel keep a few thousand lines while the program is busy. */
const recvBufferSize = 1_048_576;

/** Listens for datagrams, each with one line; rejects with a ListenError. */
export async function receiveDatagrams(address: string, senders: SenderDirectory): Promise<Receiver> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  const socket = createSocket({ type: host === '' || isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize });
  socket.on('message', (bytes, { address: from }) => {
    const consumer = senders.consumerFor(from);
    if (!consumer) senders.countRefusal('sender');
    else if (consumer.takesNoMore) consumer.fault('over_limit');
    else if (bytes.length > maxLineBytes) consumer.fault('too_long');
    else consumer.line(bytes.toString('latin1'));
  });
  socket.bind({ port, ...(host !== '' && { address: host }) });
  await untilListening(socket, address, 'requests.listen_udp');
  return { address: `${host}:${socket.address().port}`, close: () => socket[Symbol.asyncDispose]() };
}

/**
 * Creates the server that makes handshakes. It does not listen itself, so that a reload can replace
 * it.
 */
export function createHandshakes(tls: ListenerTls, senders: SenderDirectory): TlsServer {
  const server = createTlsServer({ ...listenerTlsOptions(tls), handshakeTimeout });
  guardHandshakes(server, {
    refusalReason: (socket) => (tls.clientCa === undefined ? undefined : clientCertificateProblem(socket)),
    onRefused: (because, address) => senders.countRefusal('tls', because, address),
  });
  return server;
}

/** Listens for lines by TCP, or by TLS with `handshakes`; rejects with a ListenError. */
export async function receiveStreams(
  address: string,
  handshakes: TlsServer | undefined,
  senders: SenderDirectory,
  idleLimits = { firstBytesMs, idleMs },
): Promise<StreamReceiver> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  const sockets = new Map<Socket, LineConsumer>();
  const server = createServer();
  const read = (socket: Socket): void => {
    // A refused client certificate has closed it.
    if (!socket.destroyed) readStream(socket, senders, idleLimits);
  };
  let tls = handshakes?.on('secureConnection', read);
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const consumer = senders.consumerFor(socket.remoteAddress ?? '');
    if (!consumer) return refuseConnection(socket, 'sender', senders);
    if (sockets.size >= maxConnections) return refuseConnection(socket, 'connections', senders);
    if ([...sockets.values()].filter((each) => each === consumer).length >= maxConnectionsPerSender)
      return refuseConnection(socket, 'share', senders);
    sockets.set(socket.setKeepAlive(true, 60_000), consumer);
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
    useTls(next) {
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
  // Later errors concern one connection only.
  server.on('error', () => undefined);
}

function refuseConnection(socket: Socket, reason: RefusalReason, senders: SenderDirectory): void {
  senders.countRefusal(reason);
  socket.destroy();
}

function readStream(
  socket: Socket,
  senders: SenderDirectory,
  idleLimits: { firstBytesMs: number; idleMs: number },
): void {
  const from = socket.remoteAddress ?? '';
  const frames = new FrameReader();
  const read = (bytes?: Buffer): void => {
    // Looked up each time: a reload may give the address to another appliance, or to none.
    const consumer = senders.consumerFor(from);
    if (!consumer) return refuseConnection(socket, 'sender', senders);
    if (frames.read(consumer, bytes)) {
      socket.resume();
      return;
    }
    // Unread lines stay with their sender, so nothing is lost.
    socket.pause();
    setTimeout(read, retryReadMs).unref();
  };
  socket.setTimeout(idleLimits.firstBytesMs, () => refuseConnection(socket, 'idle', senders));
  socket.once('data', () => socket.setTimeout(idleLimits.idleMs));
  socket.on('data', read);
  socket.on('end', () => {
    const consumer = senders.consumerFor(from);
    if (consumer) frames.end(consumer);
  });
  socket.on('error', () => socket.destroy());
}
