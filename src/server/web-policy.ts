import { constants, type X509Certificate } from 'node:crypto';
import type { TlsOptions, TLSSocket } from 'node:tls';
import type { WebSettings, WebTls } from '../config/web-settings.ts';
import { clientCertificateProblem, noCertificate } from '../lib/handshakes.ts';
import { alternativeNames, plainAddress } from '../lib/pem.ts';
import { isSame } from '../lib/same.ts';

/** Plain HTTP for everybody. */
export const openToAll: WebSettings = { users: new Map(), headers: {} };

/** Returns why a listener cannot change its policy without a restart; undefined if it can. */
export function restartReason(before: WebSettings, after: WebSettings): string | undefined {
  if ((before.tls === undefined) !== (after.tls === undefined)) {
    return `TLS cannot be turned ${after.tls ? 'on' : 'off'} while the exporter listens; restart it for that`;
  }
  if (asksForCertificate(before) !== asksForCertificate(after)) {
    return 'client_auth_type cannot change from or to NoClientCert while the exporter listens; restart it for that';
  }
  if (requiresLogin(before) && !requiresLogin(after)) {
    return 'nobody would have to log in any more, as where the end of a file is missing; if that is meant, restart the exporter';
  }
  return undefined;
}

/** Returns true if clients need a password or a client certificate. */
function requiresLogin({ tls, users }: WebSettings): boolean {
  return users.size > 0 || ['RequireAnyClientCert', 'RequireAndVerifyClientCert'].includes(tls?.clientAuth ?? '');
}

/**
 * Returns true if clients that were accepted under one policy must authenticate again under the
 * other.
 */
export function requiresReauthentication(before: WebSettings, after: WebSettings): boolean {
  return !isSame(authenticationRules(before), authenticationRules(after));
}

/**
 * Returns Node's options. Node does not judge client certificates: `clientRefusal` does, by
 * a rule that can change.
 */
export function webTlsOptions(tls: WebTls): TlsOptions {
  return {
    cert: tls.cert,
    key: tls.key.reveal(),
    ca: tls.clientCa,
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    ciphers: tls.ciphers,
    ...(tls.curves !== undefined && { ecdhCurve: tls.curves }),
    honorCipherOrder: tls.honorCipherOrder,
    // As in Go: a client could have the costly part of a handshake repeated.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    requestCert: tls.clientAuth !== 'NoClientCert',
    rejectUnauthorized: false,
  };
}

function asksForCertificate({ tls }: WebSettings): boolean {
  return tls !== undefined && tls.clientAuth !== 'NoClientCert';
}

function authenticationRules({ tls, users }: WebSettings) {
  return [tls?.clientAuth, tls?.clientCa, tls?.clientAllowedSans, users];
}

/** Returns why a client certificate is refused, for the log; undefined if it is accepted. */
export function clientRefusal(socket: TLSSocket, tls: WebTls): string | undefined {
  const { clientAuth, clientAllowedSans } = tls;
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return clientAuth === 'VerifyClientCertIfGiven' ? undefined : noCertificate;
  const problem = clientAuth === 'RequireAnyClientCert' ? undefined : clientCertificateProblem(socket);
  if (problem !== undefined) return problem;
  if (clientAllowedSans && !hasOneOf(certificate, clientAllowedSans))
    return 'its certificate has none of the names in client_allowed_sans';
  return undefined;
}

function hasOneOf(certificate: X509Certificate, allowed: readonly string[]): boolean {
  const names = new Set(alternativeNames(certificate, ['DNS', 'IP Address', 'email', 'URI']));
  return allowed.some((name) => names.has(plainAddress(name)));
}
