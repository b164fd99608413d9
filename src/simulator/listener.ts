import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { assert } from '../lib/check.ts';
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
  /** New handshakes see this; what was connected is cut when it changes. */
  present(material: TlsMaterial): void;
  /** Closes the port and cuts what was connected, or opens the same port again. */
  accept(accepts: boolean): void;
  /** At once, whatever is in flight. */
  close(): Promise<void>;
}

/** Listens for HTTPS, in a way that can be shut, opened again and given another certificate. */
export async function startListener({ host, port, material, onRequest }: ListenerParts): Promise<Listener> {
  const server = createServer({ key: material.key, cert: material.cert, keepAliveTimeout: 15_000 }, onRequest);
  // docs/api.md §1.6.
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
  // While the port was closed, an outgoing connection of the machine may have got it.
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
