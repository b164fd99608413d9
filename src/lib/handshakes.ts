import { constants } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { errorCode } from './check.ts';
import type { Secret } from './secret.ts';

/** The TLS of a listener, as PEM; with `clientCa`, only clients with such a certificate connect. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa?: string | undefined;
}

/** Returns Node's options for a listener; {@link guardHandshakes} refuses client certificates. */
export function listenerTlsOptions({ cert, key, clientCa }: ListenerTls): TlsOptions {
  return {
    cert,
    key: key.reveal(),
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
  };
}

export interface HandshakeRules {
  /**
   * Returns why a client is refused, as one of a few fixed texts; undefined if it is accepted. The
   * server must not judge client certificates itself (`rejectUnauthorized: false`): Node would
   * report them like a client that disconnects.
   */
  readonly refusalReason: (socket: TLSSocket) => string | undefined;
  /** Called for each client that is refused, also by OpenSSL during the handshake. */
  readonly onRefused: (because: string, address: string | undefined) => void;
}

/** A server of TLS or HTTPS; one of plain HTTP emits neither event. */
type HandshakeServer = Pick<EventEmitter, 'on' | 'prependListener'>;

/** Closes connections whose client certificate is refused, and reports failed handshakes. */
export function guardHandshakes(server: HandshakeServer, rules: HandshakeRules): void {
  // Runs before the listener that begins to read.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const problem = rules.refusalReason(socket);
    if (problem === undefined) return;
    rules.onRefused(problem, socket.remoteAddress);
    socket.destroy();
  });
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    const code = errorCode(error);
    // A client that disconnects during the handshake, such as a port probe, is not refused.
    if (code.startsWith('ERR_SSL_'))
      rules.onRefused(`the TLS handshake failed (${code})${hintFor(code)}`, socket.remoteAddress);
  });
}

/** Returns why a client certificate is refused; undefined for a valid one. */
export function clientCertificateProblem(socket: TLSSocket): string | undefined {
  if (!socket.getPeerX509Certificate()) return noCertificate;
  if (!socket.authorized) return `its certificate is not valid under client_ca (${String(socket.authorizationError)})`;
  return undefined;
}

export const noCertificate = 'it shows no certificate';

/** Returns the most likely cause of a failed handshake. */
function hintFor(code: string): string {
  if (code === 'ERR_SSL_HTTP_REQUEST')
    return ': it speaks plain HTTP, so its configuration wants TLS (of Prometheus: scheme: https)';
  if (/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(?:UNKNOWN|EXPIRED)/.test(code))
    return ': it does not trust the certificate of this listener, so its configuration wants the right ca_file, or the certificate to be renewed';
  return '';
}
