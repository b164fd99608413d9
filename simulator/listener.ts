import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { assert, errorCode } from '../src/lib/check.ts';
import type { TlsMaterial } from './tls.ts';

/**
 * 0 for any; `lasting` for one that is still free at a later start: systems give an outgoing
 * connection one of the higher ports.
 */
export type Port = number | 'lasting';

export interface ListenerParts {
  readonly host: string;
  readonly port: Port;
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
  const { port: listenedOn, cutAll, close } = await listen(server, host, port);
  let presented = material;
  let reopening: NodeJS.Timeout | undefined;
  // While the port is closed, an outgoing connection of the machine can use its number.
  server.on('error', () => {
    reopening = setTimeout(listenAgain, 100);
  });

  function listenAgain(): void {
    server.listen(listenedOn, host);
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
      await close();
    },
  };
}

/** Opens a port, and closes it at once, without waiting for its connections. */
export async function listen(server: Server, host: string, port: Port) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  if (port === 'lasting') await listenOnLastingPort(server, host);
  else await once(server.listen(port, host), 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null, 'the address of a TCP server is an object');

  function cutAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    cutAll();
    await closed;
  }

  return { port: address.port, cutAll, close };
}

async function listenOnLastingPort(server: Server, host: string): Promise<void> {
  while (!server.listening)
    await once(server.listen(30_000 + randomInt(2_700), host), 'listening').catch((error: unknown) => {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    });
}
