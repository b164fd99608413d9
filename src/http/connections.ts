import type { Socket } from 'node:net';
import { largestCrowd } from './crowd.ts';

/** One connection of a listener. */
export interface Connection {
  /** A request of it is being answered. */
  busy(): void;
  /** Every request of it has been answered. */
  idle(): void;
  /** True once it was to be closed while it was busy. */
  readonly isRetired: boolean;
}

/** The connections of one listener, so that none of them costs those who come later. */
export interface Connections {
  /**
   * Takes a connection in. Where there is no room an idle one makes it, first of the network that has the most, else
   * a busy one of that network: who does not read its answers must not keep Prometheus out. Without such a one the
   * newcomer is closed.
   */
  add(socket: Socket): void;
  /** The connection of a socket, also when that speaks TLS over the one that was added; undefined once it is closed. */
  of(socket: Socket): Connection | undefined;
  /** Closes those that are idle, and marks the others. */
  retire(): void;
}

interface Entry extends Connection {
  readonly socket: Socket;
  isBusy: boolean;
  hasAsked: boolean;
  isRetired: boolean;
}

export interface ConnectionsParts {
  /** More do not stay open: who holds connections must not take the descriptors that polling and scrapes need. */
  readonly most: number;
}

export function createConnections({ most }: ConnectionsParts): Connections {
  /** By peer; who has been idle for the longest time comes first. */
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

  /** Which connection makes room for a newcomer, if any. */
  function superfluous(newcomer: string): Entry | undefined {
    const all = [...open.values()];
    const crowd = largestCrowd({ all, addressOf: ({ socket }) => socket.remoteAddress, newcomer });
    return idlest(crowd.members) ?? idlest(all) ?? (crowd.isUnfair ? crowd.members[0] : undefined);
  }

  return {
    add(socket) {
      // Gone before it was looked at.
      if (socket.remoteAddress === undefined) {
        socket.destroy();
        return;
      }
      const peer = peerOf(socket);
      const entry = create(socket, peer);
      if (open.size >= most) {
        const last = superfluous(socket.remoteAddress);
        if (!last) {
          socket.destroy();
          return;
        }
        open.delete(peerOf(last.socket));
        last.socket.destroy();
      }
      open.set(peer, entry);
      socket.once('close', () => {
        if (open.get(peer) === entry) open.delete(peer);
      });
    },
    of: (socket) => open.get(peerOf(socket)),
    retire() {
      for (const entry of open.values()) {
        if (entry.isBusy) entry.isRetired = true;
        else entry.socket.destroy();
      }
    },
  };
}

/** Who has never asked for anything goes before Prometheus between two scrapes. */
function idlest(entries: readonly Entry[]): Entry | undefined {
  const idle = entries.filter(({ isBusy }) => !isBusy);
  return idle.find(({ hasAsked }) => !hasAsked) ?? idle[0];
}

/** No two open connections of a listener have the same; a socket that speaks TLS has that of the one beneath it. */
function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
