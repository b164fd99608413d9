import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SecureVersion, TlsOptions } from 'node:tls';
import type { Secret } from '../lib/secret.ts';

/** Who may read from the metrics listener, and how it speaks TLS. */
export interface WebPolicy {
  /** Without it, plain HTTP. */
  readonly tls?: WebTls;
  /** bcrypt hashes by user; without any, everybody may read. */
  readonly users: ReadonlyMap<string, Secret>;
  /** Added to every answer that has no header of the same name. */
  readonly headers: Readonly<Record<string, string>>;
  /** One more request each interval, and at most `burst` at once. */
  readonly rateLimit?: { readonly intervalMs: number; readonly burst: number };
}

export interface WebTls {
  /** PEM, like the other two. */
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa?: string;
  readonly clientAuth: ClientAuth;
  /** A client certificate must have one of these as a subject alternative name. */
  readonly clientAllowedSans?: readonly string[];
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  /** OpenSSL names separated by colons; default: those of Node. */
  readonly ciphers?: string;
  readonly curves?: string;
  readonly honorCipherOrder: boolean;
}

/** What a client must show, with the names of Go's crypto/tls. */
export type ClientAuth =
  | 'NoClientCert'
  | 'RequestClientCert'
  | 'RequireAnyClientCert'
  | 'VerifyClientCertIfGiven'
  | 'RequireAndVerifyClientCert';

/** Plain HTTP for everybody. */
export const openToAll: WebPolicy = { users: new Map(), headers: {} };

/** Returns why an open listener cannot change from one policy to another; undefined if it can. */
export function webChangeProblem(before: WebPolicy, after: WebPolicy): string | undefined {
  if ((before.tls === undefined) !== (after.tls === undefined)) {
    return `TLS cannot be turned ${after.tls ? 'on' : 'off'} while the exporter listens; restart it for that`;
  }
  if (asksForCertificate(before) !== asksForCertificate(after)) {
    return 'client_auth_type cannot change from or to NoClientCert while the exporter listens; restart it for that';
  }
  return undefined;
}

/**
 * Returns true if clients that were accepted under one policy must authenticate again under the
 * other.
 */
export function requiresReauthentication(before: WebPolicy, after: WebPolicy): boolean {
  return !isDeepStrictEqual(rulesOf(before), rulesOf(after));
}

/** Returns when the server certificate ends, in Unix milliseconds. */
export function certificateEndsAtMs({ cert }: Pick<WebTls, 'cert'>): number {
  return new X509Certificate(cert).validToDate.getTime();
}

/**
 * Returns Node's options. Node does not judge client certificates: `clientCertificateProblem` does,
 * by a rule that can change.
 */
export function tlsOptions(tls: WebTls): TlsOptions {
  return {
    cert: tls.cert,
    key: tls.key.reveal(),
    ca: tls.clientCa,
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    ciphers: tls.ciphers,
    ...(tls.curves !== undefined && { ecdhCurve: tls.curves }),
    honorCipherOrder: tls.honorCipherOrder,
    requestCert: tls.clientAuth !== 'NoClientCert',
    rejectUnauthorized: false,
  };
}

function asksForCertificate({ tls }: WebPolicy): boolean {
  return tls !== undefined && tls.clientAuth !== 'NoClientCert';
}

function rulesOf({ tls, users }: WebPolicy) {
  return [
    tls?.clientAuth,
    tls?.clientCa,
    tls?.clientAllowedSans,
    [...users].map(([name, hash]) => [name, hash.reveal()]),
  ];
}
