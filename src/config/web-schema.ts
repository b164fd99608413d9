import { DEFAULT_CIPHERS } from 'node:tls';
import { type Static, Type } from 'typebox';
import { file, mapping, type SettingsOf, value } from './schema-parts.ts';

/** The versions of TLS: the name in Go's libraries, and the name in Node. */
export const tlsVersions = new Map([
  ['TLS10', 'TLSv1'],
  ['TLS11', 'TLSv1.1'],
  ['TLS12', 'TLSv1.2'],
  ['TLS13', 'TLSv1.3'],
] as const);

/** The suites of TLS 1.3, which cannot be chosen. */
const newestSuites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const;

/** The curves that Go offers, with their names in OpenSSL. */
export const curveNames = new Map([
  ['CurveP256', 'P-256'],
  ['CurveP384', 'P-384'],
  ['CurveP521', 'P-521'],
  ['X25519', 'X25519'],
] as const);

type Version = typeof tlsVersions extends Map<infer Name, unknown> ? Name : never;

/** Returns the chosen suites as an OpenSSL list; undefined for Node's defaults. */
export function cipherList(suites: readonly string[] | undefined, oldest: Version): string | undefined {
  // OpenSSL allows no cipher for versions before 1.2 above its lowest security level.
  const old = oldest === 'TLS10' || oldest === 'TLS11';
  if (!suites) return old ? `${DEFAULT_CIPHERS}:@SECLEVEL=0` : undefined;
  // Without a suite of TLS 1.3 Node would switch that version off.
  return [...new Set([...newestSuites, ...suites]), ...(old ? ['@SECLEVEL=0'] : [])].join(':');
}

/** A web configuration with parsed values, and its settings. */
export type WebFile = Static<typeof webSchema>;
export type WebFileSettings = SettingsOf<typeof webSchema>;
export type TlsServerFile = NonNullable<WebFile['tls_server_config']>;

const hashExample = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';

/**
 * The requirement for client certificates; `RequireClientCert` is an older name of
 * `RequireAnyClientCert`.
 */
const clientAuthTypes = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'RequireClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;

const tlsServer = mapping(
  {
    cert_file: Type.Optional(file('certificates', 'PEM file of the certificate and its intermediates.', 'server.crt')),
    key_file: Type.Optional(file('privateKey', 'PEM file of its private key, without a passphrase.', 'server.key')),
    cert: Type.Optional(
      value('certificates', {
        description: 'The certificate itself, instead of `cert_file`.',
        examples: ['-----BEGIN CERTIFICATE-----…'],
      }),
    ),
    key: Type.Optional(
      value('privateKey', {
        description: 'The private key itself, instead of `key_file`.',
        examples: ['-----BEGIN PRIVATE KEY-----…'],
      }),
    ),
    client_auth_type: Type.Enum([...clientAuthTypes], {
      description: 'Which clients are accepted. Only `RequireAndVerifyClientCert` keeps unknown clients out.',
      default: 'NoClientCert',
    }),
    client_ca_file: Type.Optional(
      file('certificates', 'PEM file of the authorities of client certificates.', 'prometheus-ca.crt'),
    ),
    client_ca: Type.Optional(
      value('certificates', {
        description: 'The authorities themselves, instead of `client_ca_file`.',
        examples: ['-----BEGIN CERTIFICATE-----…'],
      }),
    ),
    client_allowed_sans: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'A client certificate must have one of these alternative names: a DNS name, an IP or e-mail address, or a URI.',
        minItems: 1,
        examples: [['prometheus.example.org']],
      }),
    ),
    min_version: Type.Enum([...tlsVersions.keys()], {
      description: 'The oldest allowed TLS version. `TLS10` and `TLS11` also allow the weak ciphers they need.',
      default: 'TLS12',
    }),
    max_version: Type.Enum([...tlsVersions.keys()], {
      description: 'The newest allowed TLS version.',
      default: 'TLS13',
    }),
    cipher_suites: Type.Optional(
      Type.Array(value('cipherSuite', {}), {
        description: 'The cipher suites up to TLS 1.2, by their standard names. Those of TLS 1.3 are always allowed.',
        minItems: 1,
        examples: [['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']],
      }),
    ),
    prefer_server_cipher_suites: Type.Boolean({
      description: 'Whether their order takes precedence over that of the client.',
      default: true,
    }),
    curve_preferences: Type.Optional(
      Type.Array(Type.Enum([...curveNames.keys()]), {
        description: 'Elliptic curves, the best first.',
        minItems: 1,
        examples: [['X25519', 'CurveP256']],
      }),
    ),
  },
  { description: 'TLS; without it the listener speaks plain HTTP.' },
);

const headers = mapping(
  {
    'Content-Security-Policy': Type.Optional(
      value('headerValue', {
        description: 'Sent where the exporter has no policy of its own; `/` has one.',
        examples: ["frame-ancestors 'none'"],
      }),
    ),
    'X-Frame-Options': Type.Optional(
      Type.Enum(['deny', 'sameorigin'], {
        description: 'Whether other pages may embed those of the exporter.',
      }),
    ),
    'X-Content-Type-Options': Type.Optional(Type.Enum(['nosniff'], { description: 'Always sent.' })),
    'X-XSS-Protection': Type.Optional(
      value('headerValue', { description: 'For old browsers.', examples: ['1; mode=block'] }),
    ),
    'Strict-Transport-Security': Type.Optional(
      value('headerValue', {
        description: 'Browsers then use only TLS for this host, also for other programs on it.',
        examples: ['max-age=31536000'],
      }),
    ),
  },
  { description: 'Headers of every answer; one that is blank is left out.', default: {} },
);

/** The schema of the web configuration of Prometheus' exporter-toolkit, from its documentation. */
export const webSchema = mapping({
  tls_server_config: Type.Optional(tlsServer),
  http_server_config: mapping(
    {
      http2: Type.Boolean({
        description: 'Without effect: the listener uses HTTP/1.1.',
        default: true,
      }),
      headers,
    },
    { default: {} },
  ),
  basic_auth_users: Type.Record(Type.String(), value('passwordHash', {}), {
    description: 'Users and the bcrypt hashes of their passwords. With one, every path requires a password.',
    default: {},
    examples: [{ prometheus: hashExample }],
  }),
  rate_limit: mapping(
    {
      interval: value('interval', {
        description: 'The time until one more request is allowed, of all clients; `0` is not a limit.',
        default: '0',
        to: '1h',
        examples: ['1s'],
      }),
      burst: Type.Integer({
        description: 'Requests that are allowed at once before `interval` applies.',
        default: 0,
        minimum: 0,
        maximum: 1_000_000,
      }),
    },
    { default: {} },
  ),
});
