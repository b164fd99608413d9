import type { Socket } from 'node:net';
import { largestNetwork } from './network-limit.ts';

/** A connection of a listener. */
export interface ClientConnection {
  /** Marks the connection as busy: one of its requests is being answered. */
  busy(): void;
  /** Marks the connection as idle: all of its requests have been answered. */
  idle(): void;
  /**
   * True if `retire` was called while the connection was busy: it must be closed when it becomes
   * idle.
   */
  readonly isRetired: boolean;
}

/** Limits the connections of one listener, so that slow or idle clients do not keep others out. */
export interface Connections {
  /**
   * Adds a connection. At the limit it closes an idle one, first of the network that has most
   * connections, else a busy one of that network: a client that does not read its answers must not
   * keep Prometheus out. If there is none of these, it closes the new connection.
   */
  add(socket: Socket): void;
  /**
   * Returns the connection of a socket, or of the TLS socket above it; undefined once it is closed.
   */
  of(socket: Socket): ClientConnection | undefined;
  /** Closes idle connections, and marks the others as retired. */
  retire(): void;
}

interface Entry extends ClientConnection {
  readonly socket: Socket;
  isBusy: boolean;
  hasAsked: boolean;
  isRetired: boolean;
}

export interface ConnectionsParts {
  /** Maximum of open connections: polling and scrapes need file descriptors too. */
  readonly maxConnections: number;
}

export function createConnections({ maxConnections }: ConnectionsParts): Connections {
  /** By `connectionKey`, longest idle first. */
  const open = new Map<string, Entry>();

  function create(socket: Socket, peer: string): Entry {
    const entry: Entry = {
      socket,
      isBusy: false,
      hasAsked: false,
      isRetired: false,
      busy() {
        entry.isBusy = true;
        entry.hasAsked = true;
      },
      idle() {
        entry.isBusy = false;
        if (open.delete(peer)) open.set(peer, entry);
      },
    };
    return entry;
  }

  /** Returns the connection to close for a new client, if any. */
  function connectionToEvict(newcomer: string): Entry | undefined {
    const all = [...open.values()];
    const largest = largestNetwork({ all, addressOf: ({ socket }) => socket.remoteAddress, newcomer });
    return firstToEvict(largest.members) ?? firstToEvict(all) ?? (largest.mayEvict ? largest.members[0] : undefined);
  }

  return {
    add(socket) {
      // The client has disconnected already.
      if (socket.remoteAddress === undefined) {
        socket.destroy();
        return;
      }
      const peer = connectionKey(socket);
      const entry = create(socket, peer);
      if (open.size >= maxConnections) {
        const last = connectionToEvict(socket.remoteAddress);
        if (!last) {
          socket.destroy();
          return;
        }
        open.delete(connectionKey(last.socket));
        last.socket.destroy();
      }
      open.set(peer, entry);
      socket.once('close', () => {
        if (open.get(peer) === entry) open.delete(peer);
      });
    },
    of: (socket) => open.get(connectionKey(socket)),
    retire() {
      for (const entry of open.values()) {
        if (entry.isBusy) entry.isRetired = true;
        else entry.socket.destroy();
      }
    },
  };
}

/**
 * Returns an idle connection; one that never sent a request goes before Prometheus between two
 * scrapes.
 */
function firstToEvict(entries: readonly Entry[]): Entry | undefined {
  const idle = entries.filter(({ isBusy }) => !isBusy);
  return idle.find(({ hasAsked }) => !hasAsked) ?? idle[0];
}

/**
 * Returns a key that is unique among open connections; a TLS socket has the key of the socket
 * beneath it.
 */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
