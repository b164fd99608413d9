import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The answers of one connection, as they came. */
export interface RawExchange {
  readonly text: string;
  /** The status of every answer in the text, in their order. */
  readonly statuses: readonly number[];
}

/**
 * Writes bytes on a connection of their own, in pieces if so given, and reads until the other side
 * ends it.
 */
export async function exchangeRaw(url: string, ...pieces: readonly (string | Buffer)[]): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    // A reset ends the exchange as well; what came before it is what counts.
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
  });
  for (const piece of pieces) await new Promise<void>((resolve) => socket.write(piece, 'latin1', () => resolve()));
  await ended;
  const text = Buffer.concat(chunks).toString('latin1');
  return { text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)) };
}

/** Asks for a second handshake on a connection of TLS 1.2; newer versions have none. */
export function renegotiation(url: string): Promise<'accepted' | 'refused'> {
  return new Promise((resolve) => {
    const socket = connectTls({ port: Number(new URL(url).port), rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
    const end = (outcome: 'accepted' | 'refused'): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once('error', () => end('refused'));
    socket.once('secureConnect', () =>
      socket.renegotiate({ rejectUnauthorized: false }, (error) => end(error ? 'refused' : 'accepted')),
    );
  });
}
