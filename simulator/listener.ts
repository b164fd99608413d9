import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { assert } from '../src/lib/check.ts';
import type { TlsMaterial } from './tls.ts';

export interface ListenerParts {
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  readonly material: TlsMaterial;
  readonly onRequest: RequestListener;
}

export interface Listener {
  readonly port: number;
  /** Sets what new handshakes present. A change closes all connections. */
  present(material: TlsMaterial): void;
  /** Closes the port and all connections, or opens the same port again. */
  accept(accepts: boolean): void;
  /** Closes at once, without waiting for requests. */
  close(): Promise<void>;
}

/** Listens for HTTPS. The port can be closed and opened again, and the certificate replaced. */
export async function startListener({ host, port, material, onRequest }: ListenerParts): Promise<Listener> {
  const server = createServer({ key: material.key, cert: material.cert, keepAliveTimeout: 15_000 }, onRequest);
  // As the appliance's web server does.
  server.maxRequestsPerSocket = 500;
  const sockets = new Set<Socket>();
  let presented = material;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  assert(typeof address === 'object' && address !== null, 'the address of a TCP server is an object');

  const listenedOn = address.port;
  let reopening: NodeJS.Timeout | undefined;
  // While the port is closed, an outgoing connection of the machine can use its number.
  server.on('error', () => {
    reopening = setTimeout(listenAgain, 100);
  });

  function listenAgain(): void {
    server.listen(listenedOn, host);
  }

  function cutAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    port: listenedOn,
    present(next) {
      if (next === presented) return;
      presented = next;
      server.setSecureContext({ key: next.key, cert: next.cert });
      cutAll();
    },
    accept(accepts) {
      if (accepts === server.listening) return;
      clearTimeout(reopening);
      if (accepts) {
        listenAgain();
      } else {
        server.close();
        cutAll();
      }
    },
    async close() {
      clearTimeout(reopening);
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      cutAll();
      await closed;
    },
  };
}
