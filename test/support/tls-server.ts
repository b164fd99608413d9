import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { createCertificate } from '../../simulator/certificate.ts';
import { type TlsMaterial, tlsMaterialOf } from '../../simulator/tls.ts';

/** A self-signed certificate for a host name or for 127.0.0.1; `expired` yesterday. */
export function makeMaterial({ expired = false, name }: { expired?: boolean; name?: string } = {}): TlsMaterial {
  const dayMs = 86_400_000;
  const { key, cert } = createCertificate({
    subject: { CN: name ?? 'appliance' },
    notBefore: new Date(Date.now() - 30 * dayMs),
    notAfter: new Date(Date.now() + (expired ? -1 : 30) * dayMs),
    altNames: [name === undefined ? 'IP:127.0.0.1' : `DNS:${name}`],
  });
  return tlsMaterialOf(key, cert);
}

export type Listening = Awaited<ReturnType<typeof listen>>;
export type HttpsServer = Awaited<ReturnType<typeof startHttpsServer>>;

/** A server that speaks HTTP over TLS, as well or badly as `answer` does. */
export async function startHttpsServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  options: { material?: TlsMaterial } = {},
) {
  const material = options.material ?? makeMaterial();
  /** Heads of the requests in their order; a test that makes very many may empty it. */
  const requests: IncomingMessage[] = [];
  const server = createServer(
    { key: material.key, cert: material.cert, keepAliveTimeout: 60_000 },
    (request, response) => {
      requests.push(request);
      answer(response, request);
    },
  );
  const listening = await listen(server, material);
  return Object.assign(listening, { requests, server });
}

/** A server that speaks TLS, and then whatever `onConnection` makes of it. */
export async function startTlsServer(
  onConnection: (socket: TLSSocket) => void,
  options: { material?: TlsMaterial } = {},
) {
  const material = options.material ?? makeMaterial();
  const { key, cert } = material;
  const server = createTlsServer({ key, cert }, (socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return await listen(server, material);
}

/** Lets a server listen until the end of the test. */
async function listen(server: Server | TlsServer, material: TlsMaterial) {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const hangUp = (): void => sockets.forEach((socket) => socket.destroy());
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    hangUp();
    await closed;
  };
  onTestFinished(close);
  return {
    url: new URL(`https://127.0.0.1:${port}`),
    material,
    /** TCP connections accepted so far. */
    get accepted() {
      return accepted;
    },
    /** The number of them that are still open. */
    get open() {
      return sockets.size;
    },
    /** Ends every connection from this side. */
    hangUp,
    /** From now on connections are refused. */
    close,
  };
}
