import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { errorCode } from '../lib/check.ts';
import { parseListenAddress } from '../lib/address.ts';
import type { Secret } from '../lib/secret.ts';
import { listenError } from '../lib/listen.ts';
import { type FrameFault, FrameReader, maxLineBytes } from './frames.ts';

export interface ReceiverSettings {
  /** `host:port`; without it, no datagrams are received. */
  readonly listenUdp?: string | undefined;
  readonly listenTcp?: string | undefined;
  /** For `listenTcp`, as PEM; with `clientCa`, only clients with such a certificate connect. */
  readonly tls?: { readonly cert: string; readonly key: Secret; readonly clientCa?: string | undefined } | undefined;
}

/** Takes the lines of one sender. */
export interface Sender {
  line(line: string): void;
  /** Counts what is no line, or a datagram that was thrown away. */
  fault(fault: FrameFault | 'over_limit'): void;
  /** True while no more is to be read: a connection waits, a datagram is thrown away. */
  readonly isOverLimit: boolean;
}

export const refusalReasons = ['sender', 'connections', 'tls'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export interface LineSink {
  /** Returns undefined for an address that may not send. */
  senderOf(address: string): Sender | undefined;
  /** Counts what was refused before it was read. */
  refused(reason: RefusalReason): void;
}

export interface Receiver {
  /** The address on which it listens. */
  readonly address: string;
  close(): Promise<void>;
}

/** Each appliance has one connection, and a second one while the first ends. */
const maxConnections = 256;
const handshakeTimeout = 10_000;
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

/** Receives lines by TCP, or TLS; rejects with a ListenError. */
export async function receiveStreams(address: string, tls: ReceiverSettings['tls'], sink: LineSink): Promise<Receiver> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: 0 };
  const sockets = new Set<Socket>();
  const server = tls ? createTlsServer(tlsOptions(tls)) : createServer();
  // Before any handshake.
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const isSender = sink.senderOf(socket.remoteAddress ?? '') !== undefined;
    if (isSender && sockets.size < maxConnections) {
      sockets.add(socket.setKeepAlive(true, 60_000));
      socket.once('close', () => sockets.delete(socket));
      return;
    }
    sink.refused(isSender ? 'connections' : 'sender');
    socket.destroy();
  });
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => readStream(socket, sink));
  // One that ended before its handshake may have been refused already.
  server.on('tlsClientError', (error) => errorCode(error) !== 'ECONNRESET' && sink.refused('tls'));
  server.listen({ port, ...(host !== '' && { host }) });
  await untilListening(server, address, 'requests.listen_tcp');
  const bound = server.address();
  return {
    address: `${host}:${typeof bound === 'object' && bound ? bound.port : port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
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

function readStream(socket: Socket, sink: LineSink): void {
  const from = socket.remoteAddress ?? '';
  // Each time: a reload may give the address to another appliance, or to none.
  const senderNow = () => sink.senderOf(from);
  const frames = new FrameReader(
    (line) => senderNow()?.line(line),
    (fault) => senderNow()?.fault(fault),
  );
  socket.on('data', (bytes: Buffer) => {
    const sender = senderNow();
    if (sender && !sender.isOverLimit) return frames.read(bytes);
    if (!sender) {
      sink.refused('sender');
      return socket.destroy();
    }
    // Unread lines stay with the sender: nothing is lost, however many connections it has.
    socket.pause().unshift(bytes);
    return setTimeout(() => socket.resume(), restMs).unref();
  });
  socket.on('end', () => frames.end());
  socket.on('error', () => socket.destroy());
}

function tlsOptions({ cert, key, clientCa }: NonNullable<ReceiverSettings['tls']>) {
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  return { cert, key: key.reveal(), handshakeTimeout, ...clients };
}
