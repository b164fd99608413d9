import { X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';
import { onTestFinished } from 'vitest';

export interface Material {
  readonly key: string;
  readonly cert: string;
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
}

/** A self-signed certificate for a host name or for 127.0.0.1; `expired` yesterday. */
export async function makeMaterial(options: { expired?: boolean; name?: string } = {}): Promise<Material> {
  const dayMs = 86_400_000;
  const altName =
    options.name === undefined ? { type: 7 as const, ip: '127.0.0.1' } : { type: 2 as const, value: options.name };
  const made = await generate([{ name: 'commonName', value: options.name ?? 'appliance' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 30 * dayMs),
    notAfterDate: new Date(Date.now() + (options.expired ? -1 : 30) * dayMs),
    extensions: [{ name: 'subjectAltName', altNames: [altName] }],
  });
  const fingerprintSha256 = new X509Certificate(made.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  return { key: made.private, cert: made.cert, fingerprintSha256 };
}

/** What the two kinds of server have in common; both end with the test. */
export interface Listening {
  readonly url: URL;
  readonly material: Material;
  /** TCP connections accepted so far. */
  readonly accepted: number;
  /** Of those, how many are still open. */
  readonly open: number;
  /** Ends every connection from this side. */
  hangUp(): void;
  /** From now on connections are refused. */
  close(): Promise<void>;
}

export interface HttpsServer extends Listening {
  /** Heads of the requests in their order; a test that makes very many may empty it. */
  readonly requests: IncomingMessage[];
  readonly server: Server;
}

/** A server that speaks HTTP over TLS, as well or badly as `answer` does. */
export async function startHttpsServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  options: { material?: Material; keepAliveMs?: number } = {},
): Promise<HttpsServer> {
  const material = options.material ?? (await makeMaterial());
  const requests: IncomingMessage[] = [];
  const server = createServer(
    { key: material.key, cert: material.cert, keepAliveTimeout: options.keepAliveMs ?? 60_000 },
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
  options: { material?: Material } = {},
): Promise<Listening> {
  const material = options.material ?? (await makeMaterial());
  const { key, cert } = material;
  const server = createTlsServer({ key, cert }, (socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return await listen(server, material);
}

async function listen(server: Server | TlsServer, material: Material): Promise<Listening> {
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
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size;
    },
    hangUp,
    close,
  };
}
