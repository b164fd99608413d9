import { type Static, Type } from 'typebox';

import { mapping, value } from './schema-parts.ts';
import { cipherNames, curveNames, tlsVersions } from './tls-names.ts';

/** A web configuration with parsed values. */
export type WebFile = Static<typeof webSchema>;
export type TlsServerFile = NonNullable<WebFile['tls_server_config']>;

const hashExample = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';

/**
 * Which clients must show a certificate; `RequireClientCert` is an older name of
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

const file = (description: string, example: string) =>
  Type.Optional(Type.String({ description, minLength: 1, examples: [example] }));

const tlsServer = mapping(
  {
    cert_file: file(
      'PEM file of the certificate of the listener, and behind it those of the authorities in between.',
      'server.crt',
    ),
    key_file: file('PEM file of the private key of that certificate, without a passphrase.', 'server.key'),
    cert: Type.Optional(
      value('certificates', {
        description: 'The certificate itself, in place of `cert_file`.',
        examples: ['-----BEGIN CERTIFICATE-----…'],
      }),
    ),
    key: Type.Optional(
      value('privateKey', {
        description: 'The private key itself, in place of `key_file`.',
        examples: ['-----BEGIN PRIVATE KEY-----…'],
      }),
    ),
    client_auth_type: Type.Enum([...clientAuthTypes], {
      description:
        'Whether clients are asked for a certificate, must show one, and must show one of `client_ca_file`. Only `RequireAndVerifyClientCert` keeps unknown clients out.',
      default: 'NoClientCert',
      examples: ['RequireAndVerifyClientCert'],
    }),
    client_ca_file: file('PEM file of the authorities of client certificates.', 'prometheus-ca.crt'),
    client_ca: Type.Optional(
      value('certificates', {
        description: 'Those authorities themselves, in place of `client_ca_file`.',
        examples: ['-----BEGIN CERTIFICATE-----…'],
      }),
    ),
    client_allowed_sans: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'A client certificate must have one of these as a subject alternative name: a DNS name, an IP or e-mail address or a URI.',
        minItems: 1,
        examples: [['prometheus.example.org']],
      }),
    ),
    min_version: Type.Enum([...tlsVersions.keys()], {
      description:
        'The oldest version of TLS that is spoken. `TLS10` and `TLS11` also allow the weak ciphers they need.',
      default: 'TLS12',
      examples: ['TLS13'],
    }),
    max_version: Type.Enum([...tlsVersions.keys()], {
      description: 'The newest version of TLS that is spoken.',
      default: 'TLS13',
      examples: ['TLS13'],
    }),
    cipher_suites: Type.Optional(
      Type.Array(Type.Enum([...cipherNames.keys()]), {
        description: 'The cipher suites up to TLS 1.2, under their names in Go; those of TLS 1.3 are always there.',
        minItems: 1,
        examples: [['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']],
      }),
    ),
    prefer_server_cipher_suites: Type.Boolean({
      description: 'Whether the order of `cipher_suites` counts, and not the order of the client.',
      default: true,
      examples: [false],
    }),
    curve_preferences: Type.Optional(
      Type.Array(Type.Enum([...curveNames.keys()]), {
        description: 'The elliptic curves, the best first.',
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
        description: 'Where the exporter has a policy of its own, as on `/`, that one stays.',
        examples: ["frame-ancestors 'none'"],
      }),
    ),
    'X-Frame-Options': Type.Optional(
      Type.Enum(['deny', 'sameorigin'], {
        description: 'Whether other pages may show ours inside them.',
        examples: ['deny'],
      }),
    ),
    'X-Content-Type-Options': Type.Optional(
      Type.Enum(['nosniff'], { description: 'The exporter sends it in any case.', examples: ['nosniff'] }),
    ),
    'X-XSS-Protection': Type.Optional(
      value('headerValue', { description: 'For browsers of old.', examples: ['1; mode=block'] }),
    ),
    'Strict-Transport-Security': Type.Optional(
      value('headerValue', {
        description: 'Browsers then take every page of this host over TLS only, those of other programs too.',
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
        description: 'Read for the sake of files of other exporters; the listener speaks HTTP/1.1 either way.',
        default: true,
        examples: [false],
      }),
      headers,
    },
    { default: {} },
  ),
  basic_auth_users: Type.Record(Type.String(), value('passwordHash', {}), {
    description: 'The users and the bcrypt hashes of their passwords. With at least one, every path wants one.',
    default: {},
    examples: [{ prometheus: hashExample }],
  }),
  rate_limit: mapping(
    {
      interval: value('interval', {
        description: 'The time in which one more request is answered, whoever asks; `0` is no limit.',
        default: '0',
        to: '1h',
        examples: ['1s'],
      }),
      burst: Type.Integer({
        description: 'How many requests may come at once before `interval` counts.',
        default: 0,
        minimum: 0,
        maximum: 1_000_000,
        examples: [20],
      }),
    },
    { default: {} },
  ),
});
