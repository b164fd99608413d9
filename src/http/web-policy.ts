import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SecureVersion, TlsOptions } from 'node:tls';
import type { Secret } from '../lib/secret.ts';

/** Who may read from the metrics listener, and how it speaks. */
export interface WebPolicy {
  /** Without it, plain HTTP. */
  readonly tls?: WebTls;
  /** bcrypt hashes by user; without any, everybody may read. */
  readonly users: ReadonlyMap<string, Secret>;
  /** Of every answer that has none of the same name by itself. */
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
  /** As OpenSSL writes them, separated by colons; without it those of Node. */
  readonly ciphers?: string;
  readonly curves?: string;
  readonly honorCipherOrder: boolean;
}

/** What is asked of a client, under the names of Go's library. */
export type ClientAuth =
  | 'NoClientCert'
  | 'RequestClientCert'
  | 'RequireAnyClientCert'
  | 'VerifyClientCertIfGiven'
  | 'RequireAndVerifyClientCert';

/** Plain HTTP for everybody. */
export const openToAll: WebPolicy = { users: new Map(), headers: {} };

/** Why a listener cannot go over from one policy to another as it listens; undefined when it can. */
export function webChangeProblem(before: WebPolicy, after: WebPolicy): string | undefined {
  if ((before.tls === undefined) !== (after.tls === undefined)) {
    return `TLS cannot be turned ${after.tls ? 'on' : 'off'} while the exporter listens; restart it for that`;
  }
  if (asksForCertificate(before) !== asksForCertificate(after)) {
    return 'client_auth_type cannot change from or to NoClientCert while the exporter listens; restart it for that';
  }
  return undefined;
}

/** True when who was let in under one policy has to prove itself anew under the other. */
export function asksAnew(before: WebPolicy, after: WebPolicy): boolean {
  return !isDeepStrictEqual(rulesOf(before), rulesOf(after));
}

/** Unix milliseconds of the end of the certificate that is shown. */
export function certificateEndsAtMs({ cert }: Pick<WebTls, 'cert'>): number {
  return new X509Certificate(cert).validToDate.getTime();
}

/** What Node makes of it. Whether a client certificate will do is looked at afterwards, by a rule that can change. */
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
