import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { fingerprintOf } from '../appliance/connection.ts';
import { oneLine } from '../lib/text.ts';

/** A server's certificate, trusted or not. */
export interface ShownCertificate {
  /** Lower-case hex. */
  readonly fingerprintSha256: string;
  /** Common names, without control characters. */
  readonly subject: string;
  readonly issuer: string;
  readonly endsAtMs: number;
}

export interface ShownParts {
  readonly host: string;
  readonly port: number;
  /** The server name (SNI); default: the host. */
  readonly serverName?: string | undefined;
  readonly signal: AbortSignal;
}

const timeoutMs = 10_000;

/** Reads the certificate of a server without a check. Sends nothing but the handshake, so an untrusted server learns nothing. */
export async function readShownCertificate(parts: ShownParts): Promise<ShownCertificate> {
  const socket = await handshake(parts);
  const { subject, issuer, valid_to: validTo } = socket.getPeerCertificate();
  const fingerprintSha256 = fingerprintOf(socket);
  socket.destroy();
  return { fingerprintSha256, subject: nameOf(subject.CN), issuer: nameOf(issuer.CN), endsAtMs: Date.parse(validTo) };
}

function nameOf(names: string | readonly string[] | undefined): string {
  return oneLine([names ?? ''].flat().join(', '), 128) || 'nobody';
}

function handshake({ host, port, serverName, signal }: ShownParts): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const servername = serverName ?? (isIP(host) ? undefined : host);
    const socket = connect({
      host,
      port,
      ...(servername === undefined ? {} : { servername }),
      rejectUnauthorized: false,
      timeout: timeoutMs,
    });
    signal.addEventListener('abort', () => socket.destroy(new Error('stopped')), { once: true });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    socket.once('error', reject);
  });
}
