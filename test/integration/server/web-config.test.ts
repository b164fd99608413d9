import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { genSaltSync, hashSync } from 'bcryptjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { givenFolder } from '../../support/folder.ts';
import { type Authority, makeAuthority } from '../../support/authority.ts';
import { isThere } from '../../support/programs.ts';
import { givenContext } from '../../unit/commands/given-command.ts';

let authority: Authority;

beforeAll(() => {
  authority = makeAuthority();
});

/** A web configuration with its certificate, in a folder of its own. */
function givenWebConfig(text: string): string {
  const folder = givenFolder();
  const { key, cert } = authority.issue('IP:127.0.0.1');
  writeFileSync(join(folder, 'server.crt'), cert);
  writeFileSync(join(folder, 'server.key'), key);
  writeFileSync(join(folder, 'ca.crt'), authority.cert);
  writeFileSync(join(folder, 'web.yml'), text);
  return join(folder, 'web.yml');
}

const tls = `
tls_server_config:
  cert_file: server.crt
  key_file: server.key
`;
const users = `
basic_auth_users:
  prometheus: ${hashSync('a password', genSaltSync(4))}
`;

describe.skipIf(!isThere('promtool'))('a web configuration file', () => {
  const longer = `${tls}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: true
  curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]
http_server_config:
  http2: true
  headers: { X-Frame-Options: sameorigin, Strict-Transport-Security: max-age=31536000 }
${users}`;

  it.each([
    ['with TLS and a password', `${tls}${users}`, true],
    ['with everything', longer, true],
    ['with nothing', '{}', true],
    ['with TLS 1.0', `${tls}  min_version: TLS10\n`, true],
    ['with an unknown key', `${tls}  junk: 1\n`, false],
    ['with an unknown cipher', `${tls}  cipher_suites: [TLS_RSA_WITH_NULL]\n`, false],
    ['with authorities but no verification', `${tls}  client_ca_file: ca.crt\n`, false],
    ['with a header that is not on the list', 'http_server_config: { headers: { Server: mine } }\n', false],
    ['without a certificate', 'tls_server_config: { key_file: server.key }\n', false],
  ])('is accepted by the exporter exactly when Prometheus accepts it: one %s', async (_, text, isRight) => {
    const webFile = givenWebConfig(text);

    const theirs = spawnSync('promtool', ['check', 'web-config', webFile], { encoding: 'utf8' });
    const { context, warned } = givenContext({});
    const ours = await runCommandLine(['check', `--web.config.file=${webFile}`], context);

    expect({ theirs: theirs.status === 0, ours: ours === 0, said: [theirs.stderr, ...warned] }).toMatchObject({
      theirs: isRight,
      ours: isRight,
    });
  });
});
