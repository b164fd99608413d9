import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { sleep } from '../../src/lib/time.ts';

/** An address of this machine that is not the scraper's: bad clients are somebody else. */
const localAddress = '127.0.0.2';

/** A connection on which anything can be written. */
export interface RawConnection {
  readonly socket: Socket;
  /** Ends it as if the machine had crashed, whatever is said on it. */
  reset(): void;
}

export async function openRaw(url: string, signal: AbortSignal): Promise<RawConnection> {
  const { protocol, hostname, port } = new URL(url);
  const place = { host: hostname, port: Number(port), localAddress };
  const secure = protocol === 'https:';
  const carrier = connect(place);
  const socket = secure ? connectTls({ socket: carrier, rejectUnauthorized: false }) : carrier;
  // A refused or reset connection is what the other side may do to such a client.
  for (const each of [carrier, socket]) each.on('error', () => undefined);
  const leave = (): void => void socket.destroy();
  signal.addEventListener('abort', leave);
  socket.once('close', () => signal.removeEventListener('abort', leave));
  if (signal.aborted) leave();
  await comes(socket, secure ? 'secureConnect' : 'connect');
  return { socket, reset: () => void carrier.resetAndDestroy() };
}

/** Resolves to what an event brings, or to nothing once the connection is over. */
export async function comes(socket: Socket, event: string): Promise<unknown> {
  if (socket.destroyed) return undefined;
  const over = new AbortController();
  const [first] = await Promise.race([once(socket, event, over), once(socket, 'close', over)]).catch(() => []);
  over.abort();
  return first;
}

export interface RawExchangeParts {
  readonly url: string;
  readonly sent: string | Buffer;
  /** Waits no longer for the other side to end the connection. */
  readonly forMs: number;
  readonly signal: AbortSignal;
}

/** Writes, reads until the other side ends it or the time is over, and resolves to what came. */
export async function exchangeFor({ url, sent, forMs, signal }: RawExchangeParts): Promise<string> {
  const { socket } = await openRaw(url, signal);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(sent, 'latin1');
  const over = new AbortController();
  await Promise.race([comes(socket, 'close'), sleep(forMs, over.signal).catch(() => undefined)]);
  over.abort();
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}
