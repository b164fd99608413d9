import { connect } from 'node:tls';

/** Asks for a second handshake on a connection of TLS 1.2; newer versions have none. */
export function renegotiation(url: string): Promise<'accepted' | 'refused'> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
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
