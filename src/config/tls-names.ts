import { DEFAULT_CIPHERS } from 'node:tls';

/** The versions of TLS: the name in Go's libraries, and the name in Node. */
export const tlsVersions = new Map([
  ['TLS10', 'TLSv1'],
  ['TLS11', 'TLSv1.1'],
  ['TLS12', 'TLSv1.2'],
  ['TLS13', 'TLSv1.3'],
] as const);

export type TlsVersion = typeof tlsVersions extends Map<unknown, infer Name> ? Name : never;

/** The suites of TLS 1.3, which have the same name in both and cannot be chosen. */
const newestSuites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const;

/** The cipher suites that Go offers, with their names in OpenSSL. */
export const cipherNames = new Map([
  ...newestSuites.map((name) => [name, name] as const),
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
] as const);

/** The curves that Go offers, with their names in OpenSSL. */
export const curveNames = new Map([
  ['CurveP256', 'P-256'],
  ['CurveP384', 'P-384'],
  ['CurveP521', 'P-521'],
  ['X25519', 'X25519'],
] as const);

type Version = typeof tlsVersions extends Map<infer Name, unknown> ? Name : never;
type Cipher = typeof cipherNames extends Map<infer Name, unknown> ? Name : never;

/** Returns the chosen suites as an OpenSSL list; undefined for Node's defaults. */
export function cipherList(chosen: readonly Cipher[] | undefined, oldest: Version): string | undefined {
  const suites = chosen?.flatMap((name) => cipherNames.get(name) ?? []);
  // OpenSSL allows no cipher for versions before 1.2 above its lowest security level.
  const old = oldest === 'TLS10' || oldest === 'TLS11';
  if (!suites) return old ? `${DEFAULT_CIPHERS}:@SECLEVEL=0` : undefined;
  // Without a suite of TLS 1.3 Node would switch that version off.
  return [...new Set([...newestSuites, ...suites]), ...(old ? ['@SECLEVEL=0'] : [])].join(':');
}
