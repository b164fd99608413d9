import { inspect } from 'node:util';
import { createSecureContext } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { webTlsOptions } from '../../../src/server/web-policy.ts';
import { makeMaterial } from '../../support/tls-server.ts';
import { refusal } from './given-config.ts';
import { loadWebText } from './given-web-config.ts';
import type { TlsMaterial } from '../../../simulator/tls.ts';

const hash = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';
let own: TlsMaterial;
let other: TlsMaterial;
let files: Readonly<Record<string, string>>;

beforeAll(() => {
  [own, other] = [makeMaterial(), makeMaterial()];
  files = { 'server.crt': own.cert, 'server.key': own.key, 'other.key': other.key, 'ca.crt': other.cert };
});

const asRead = (pem: string) => `${pem.trim()}\n`;
const tls = (rest: string) => `tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n${rest}`;

function refused(text: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  return refusal(loadWebText(text, { files, env }));
}

describe('a web configuration', () => {
  it('may be that of another exporter', async () => {
    const settings = await loadWebText(
      `# TLS and basic authentication
tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  client_allowed_sans: [prometheus.test, 192.0.2.7]
  min_version: TLS12
  max_version: TLS13
  cipher_suites:
    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
    - TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
  prefer_server_cipher_suites: false
  curve_preferences: [CurveP256, X25519]
http_server_config:
  http2: false
  headers:
    X-Frame-Options: deny
    Content-Security-Policy: ""
    Strict-Transport-Security: max-age=31536000; includeSubDomains
basic_auth_users:
  alice: ${hash}
  bob: "${hash}"
rate_limit:
  interval: "1s"
  burst: 20
`,
      { files },
    );

    expect(settings).toMatchObject({
      tls: {
        cert: asRead(own.cert),
        clientCa: asRead(other.cert),
        clientAuth: 'RequireAndVerifyClientCert',
        clientAllowedSans: ['prometheus.test', '192.0.2.7'],
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.3',
        ciphers:
          'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
        curves: 'P-256:X25519',
        honorCipherOrder: false,
      },
      headers: { 'X-Frame-Options': 'deny', 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' },
      rateLimit: { intervalMs: 1_000, burst: 20 },
    });
    expect(Object.keys(settings.headers)).toHaveLength(2);
    expect([...settings.users].map(([user, secret]) => [user, secret.reveal()])).toEqual([
      ['alice', hash],
      ['bob', hash],
    ]);
    expect(inspect(settings, { depth: 9 })).not.toContain(hash);
    expect(inspect(settings, { depth: 9 })).not.toContain('PRIVATE KEY');
  });

  it('uses TLS 1.2 and 1.3 and the ciphers of Node by default', async () => {
    expect((await loadWebText(tls(''), { files })).tls).toEqual({
      cert: asRead(own.cert),
      key: expect.anything(),
      clientAuth: 'NoClientCert',
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      honorCipherOrder: true,
    });
  });

  it('may contain certificates, key, and values of the environment', async () => {
    const indented = (pem: string) => pem.trim().replaceAll('\n', '\n    ');
    const settings = await loadWebText(
      `tls_server_config:
  cert: |
    ${indented(own.cert)}
  key: "\${SERVER_KEY}"
  client_ca: |
    ${indented(other.cert)}
  client_auth_type: RequireClientCert
basic_auth_users: { alice: "\${ALICE}" }
`,
      { env: { SERVER_KEY: own.key, ALICE: hash } },
    );

    expect(settings.tls).toMatchObject({
      cert: asRead(own.cert),
      clientCa: asRead(other.cert),
      clientAuth: 'RequireAnyClientCert',
    });
    expect(settings.tls?.key.reveal()).toBe(asRead(own.key));
    expect(settings.users.get('alice')?.reveal()).toBe(hash);
  });

  it('may disable protection explicitly, but not by being empty', async () => {
    expect(await loadWebText('{}')).toEqual({ users: new Map(), headers: {} });
    expect(await refused('# nothing yet\n')).toEqual([
      'web.yml: is empty; write {} into it for plain HTTP without passwords, or what docs/web-configuration.md explains',
    ]);
  });

  it('has no limit with an interval of 0', async () => {
    expect(await loadWebText('rate_limit: { interval: 0, burst: 5 }')).not.toHaveProperty('rateLimit');
  });

  it.each([
    'TLS_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_RSA_WITH_AES_256_CBC_SHA',
  ])('accepts the cipher suite %s', async (suite) => {
    const settings = await loadWebText(tls(`  cipher_suites: [${suite}]\n`), { files });

    expect(() => createSecureContext(webTlsOptions(settings.tls!))).not.toThrow();
  });
});

describe('errors in a web configuration', () => {
  it('are reported all at once, each with its position', async () => {
    expect(
      await refused(`tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_typ: NoClientCert
  min_version: TLS14
  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA, TLS_RSA_WITH_NULL_SHA]
  prefer_server_cipher_suites: perhaps
http_server_config:
  headers: { Server: mine, X-Frame-Options: allow }
basic_auth_users:
  alice: hunter2
  bob: $2y$17$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG
rate_limit: { interval: soon }
`),
    ).toEqual([
      'web.yml:4:3: tls_server_config.client_auth_typ: unknown key; did you mean "client_auth_type"?',
      'web.yml:5:16: tls_server_config.min_version: must be one of TLS10, TLS11, TLS12, TLS13',
      'web.yml:6:19: tls_server_config.cipher_suites[0]: is not a cipher suite of OpenSSL; write its name as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      'web.yml:6:45: tls_server_config.cipher_suites[1]: is not a cipher suite of OpenSSL; write its name as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
      'web.yml:7:32: tls_server_config.prefer_server_cipher_suites: must be true or false, got "perhaps"',
      expect.stringMatching(/^web\.yml:9:14: http_server_config\.headers\.Server: unknown key; the keys here are /),
      'web.yml:9:45: http_server_config.headers.X-Frame-Options: must be one of deny, sameorigin',
      expect.stringMatching(/^web\.yml:11:10: basic_auth_users\.alice: is not the bcrypt hash of a password, /),
      expect.stringMatching(/^web\.yml:12:8: basic_auth_users\.bob: has the cost 17, /),
      expect.stringMatching(/^web\.yml:13:25: rate_limit\.interval: must be a duration such as /),
    ]);
  });

  it.each([
    [
      'no certificate',
      'tls_server_config: { client_auth_type: NoClientCert }\n',
      [
        'web.yml:1:20: tls_server_config.cert_file: is missing; add it, or remove tls_server_config to speak plain HTTP',
        'web.yml:1:20: tls_server_config.key_file: is missing; add it, or remove tls_server_config to speak plain HTTP',
      ],
    ],
    [
      'a key of another certificate, and a user that cannot be sent',
      `${tls('').replace('server.key', 'other.key')}basic_auth_users: { "c:d": ${hash} }\n`,
      [
        'web.yml:3:13: tls_server_config.key_file: does not belong to the first certificate in cert_file; give the key of that one, and put it before the certificates of its authorities',
        'web.yml:4:21: basic_auth_users[?]: a user has a colon in its name, where the password would begin; give it another name',
      ],
    ],
    [
      'a user without a name',
      `basic_auth_users: { "": ${hash} }\n`,
      ['web.yml:1:21: basic_auth_users[?]: a user has no name; give it one'],
    ],
    [
      'authorities without verification',
      tls('  client_ca_file: ca.crt\n'),
      [
        'web.yml:4:19: tls_server_config.client_ca_file: has no effect while clients are not asked for a certificate; set client_auth_type to RequireAndVerifyClientCert, or remove it',
      ],
    ],
    [
      'no authorities for those who are verified',
      tls('  client_auth_type: RequireAndVerifyClientCert\n'),
      [
        'web.yml:4:21: tls_server_config.client_auth_type: needs client_ca_file; without it, a certificate from any public authority would be accepted',
      ],
    ],
    [
      'names for those who may come without a certificate',
      tls('  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ca.crt\n  client_allowed_sans: [a]\n'),
      [
        'web.yml:6:24: tls_server_config.client_allowed_sans: has no effect while clients may connect without a certificate; set client_auth_type to RequireAndVerifyClientCert',
      ],
    ],
    [
      'versions the wrong way round',
      tls('  min_version: TLS13\n  max_version: TLS12\n'),
      ['web.yml:5:16: tls_server_config.max_version: leaves no version of TLS: from TLS13 to TLS12'],
    ],
    [
      'a duplicate key',
      tls('  key: "${SERVER_KEY}"\n'),
      ['web.yml:4:3: tls_server_config.key: contradicts key_file; remove one of the two'],
    ],
    [
      'a limit that admits nobody',
      'rate_limit: { interval: 1s }\n',
      ['web.yml:1:13: rate_limit.burst: must be at least 1, or no request would ever be answered'],
    ],
    [
      'a header that would end early',
      'http_server_config: { headers: { X-XSS-Protection: "1\\r\\nX-Other: 2" } }\n',
      [
        'web.yml:1:52: http_server_config.headers.X-XSS-Protection: cannot be sent in an HTTP header; write one line of ASCII',
      ],
    ],
  ])('are reported for %s', async (_, text, problems) => {
    expect(await refused(text, { SERVER_KEY: own.key })).toEqual(problems);
  });

  it('do not repeat a password instead of a hash, nor a variable in it', async () => {
    for (const value of ['CanaryPassword', '"${CanaryPassword}"', '["CanaryPassword"]', '{ CanaryPassword: x }']) {
      const problems = await refused(`basic_auth_users: { alice: ${value} }\n`);
      expect(problems).toHaveLength(1);
      expect(problems.join()).not.toContain('Canary');
    }
  });
});
