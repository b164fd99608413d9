import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { genSaltSync, hashSync } from 'bcryptjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli.ts';
import { givenFolder } from '../support/folder.ts';
import { type Authority, makeAuthority } from '../support/authority.ts';
import { givenPrometheus } from '../support/monitoring.ts';
import { startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { givenContext } from '../unit/commands/given-command.ts';

const withoutPrometheus = !isThere('prometheus');
const withoutPromtool = !isThere('promtool');
const password = 'CanaryPassword0123';
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

/** The exporter on simulated appliances. */
async function givenExporter(webFile: string) {
  const exporter = startExporter([
    '--web.listen-address=127.0.0.1:0',
    `--web.config.file=${webFile}`,
    '--log.level=warn',
  ]);
  // The printed address is final; if the port of the gateway is in use, the log has another one
  // before that.
  const printed = await until(
    () => /(https?:\/\/\S+)\/metrics/.exec(exporter.stdout()),
    (found) => found !== null,
  );
  const url = printed?.[1] ?? '';
  return { ...exporter, url, host: new URL(url).host };
}

const tls = `
tls_server_config:
  cert_file: server.crt
  key_file: server.key
`;
const users = `
basic_auth_users:
  prometheus: ${hashSync(password, genSaltSync(6))}
`;

describe.skipIf(withoutPromtool)('a file that Prometheus itself would take', () => {
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
    ['with a key that nobody knows', `${tls}  junk: 1\n`, false],
    ['with a cipher that nobody has', `${tls}  cipher_suites: [TLS_RSA_WITH_NULL]\n`, false],
    ['with authorities for nobody', `${tls}  client_ca_file: ca.crt\n`, false],
    ['with a header that is not on the list', 'http_server_config: { headers: { Server: mine } }\n', false],
    ['without a certificate', 'tls_server_config: { key_file: server.key }\n', false],
  ])('is one for the exporter as well, and a wrong one is wrong for both: %s', async (_, text, isRight) => {
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

describe.skipIf(withoutPrometheus)('real Prometheus', () => {
  it('scrapes over TLS with a client certificate and a password, through /sd as well', async () => {
    const webFile = givenWebConfig(
      `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n  client_allowed_sans: [client.test]\n${users}`,
    );
    const { url, host, stderr } = await givenExporter(webFile);
    const client = authority.issue();
    const tlsConfig = 'tls_config: { ca_file: ca.crt, cert_file: client.crt, key_file: client.key }';
    const basicAuth = `basic_auth: { username: prometheus, password: ${password} }`;
    const prometheus = await givenPrometheus(
      `
global: { scrape_interval: 5s, scrape_timeout: 5s }
scrape_configs:
  - job_name: whole
    scheme: https
    ${tlsConfig}
    ${basicAuth}
    static_configs: [{ targets: ['${host}'] }]
  - job_name: each
    ${tlsConfig}
    ${basicAuth}
    http_sd_configs: [{ url: '${url}/sd', refresh_interval: 30s, ${tlsConfig}, ${basicAuth} }]
  - job_name: other
    scheme: https
    ${tlsConfig}
    basic_auth: { username: prometheus, password: wrong }
    static_configs: [{ targets: ['${host}'] }]
`,
      { 'ca.crt': authority.cert, 'client.crt': client.cert, 'client.key': client.key },
    );

    await until(
      () => prometheus.query('count_over_time(up{job!="other"}[1m]) > 1'),
      (seen) => seen.length === 6,
    );

    await until(
      () => prometheus.query('up{job!="other"} == 1'),
      (seen) => seen.length === 6,
    );
    await until(
      () => prometheus.query('up{job="other"} == 0'),
      (seen) => seen.length === 1,
    );
    await until(stderr, (log) => log.includes('the user or the password is wrong'));
    expect(stderr()).not.toContain(password);
  });
});
