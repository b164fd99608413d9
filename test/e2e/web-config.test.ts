import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { genSaltSync, hashSync } from 'bcryptjs';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Authority, makeAuthority } from '../support/authority.ts';
import { ask, outcomeOf } from '../support/given-web-access.ts';
import { runExporter, startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

const password = 'CanaryPassword0123';
let authority: Authority;

beforeAll(async () => {
  authority = await makeAuthority();
});

/** A web configuration with its certificate, in a folder of its own. */
async function givenWebConfig(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-web-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { key, cert } = await authority.issue({ type: 7, ip: '127.0.0.1' });
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
    '--log.level=info',
  ]);
  const line = await until(
    () =>
      exporter
        .stderr()
        .split('\n')
        .find((logged) => logged.includes('"msg":"listening"')),
    (found) => found !== undefined,
  );
  const { url } = JSON.parse(line ?? '') as { readonly url: string };
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

describe('the exporter with a web configuration', () => {
  it('speaks TLS, wants a password on every path, says https to service discovery and is healthy without either', async () => {
    const webFile = await givenWebConfig(`${tls}${users}`);
    const exporter = await givenExporter(webFile);
    const { url, host } = exporter;
    const basic = `prometheus:${password}`;
    const paths = ['/', '/metrics', '/probe?target=x', '/sd', '/api/status', '/-/healthy', '/-/ready', '/none', '/%zz'];

    expect(new URL(url).protocol).toBe('https:');
    for (const path of paths) {
      expect(await ask(url, { path }), path).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Basic' } });
      expect((await ask(url, { path, basic: 'prometheus:wrong' })).status, path).toBe(401);
      expect((await ask(url, { path, basic })).status, path).not.toBe(401);
    }
    for (const method of ['POST', 'OPTIONS', 'TRACE', 'PROPFIND'])
      expect((await ask(url, { method })).status).toBe(401);
    const trusted = { rejectUnauthorized: true, ca: authority.cert };
    expect((await ask(url, { path: '/metrics', basic, tls: trusted })).text).toContain('zlb_exporter_build_info');
    const targets = JSON.parse((await ask(url, { path: '/sd', basic })).text) as { labels: Record<string, string> }[];
    expect(new Set(targets.map(({ labels }) => labels.__scheme__))).toEqual(new Set(['https']));

    const flags = [`--web.listen-address=${host}`, `--web.config.file=${webFile}`];
    expect(await runExporter(['healthcheck', ...flags])).toMatchObject({ code: 0, stdout: 'healthy\n' });
    expect(await runExporter(['healthcheck', flags[0] ?? ''])).toMatchObject({ code: 1 });
    expect((await exporter.stop('SIGTERM')).code).toBe(0);
    expect(exporter.stdout() + exporter.stderr()).not.toContain(password);
  });

  it('lets in by certificate, and is healthy to a health check that has none', async () => {
    const webFile = await givenWebConfig(
      `${tls}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n`,
    );
    const { url, host } = await givenExporter(webFile);
    const client = await authority.issue();

    expect(await outcomeOf(ask(url))).toBe('cut off');
    expect((await ask(url, { tls: { ...client } })).status).toBe(200);
    expect(
      await runExporter(['healthcheck', `--web.listen-address=${host}`, `--web.config.file=${webFile}`]),
    ).toMatchObject({ code: 0, stdout: 'healthy\n' });
  });

  it('does not start with a wrong one, whose mistakes it lists', async () => {
    const webFile = await givenWebConfig(`${tls}${users}  bob: ${password}\nbasic_auth: {}\n`);

    const { code, stdout, stderr } = await runExporter([`--web.config.file=${webFile}`]);

    expect(code).toBe(2);
    expect(stderr).toContain(`${webFile}:8:8: basic_auth_users.bob: is not the bcrypt hash of a password`);
    expect(stderr).toContain(`${webFile}:9:1: basic_auth: unknown key; `);
    expect(stdout + stderr).not.toContain(password);
  });
});

describe('check', () => {
  it('says what a web configuration amounts to, and what is wrong with it', async () => {
    const right = await givenWebConfig(`${tls}${users}`);
    const wrong = await givenWebConfig('tls_server_config: { cert_file: none.crt, key_file: server.key }');

    expect(await runExporter(['check', `--web.config.file=${right}`])).toMatchObject({
      code: 0,
      stdout: 'The web configuration is valid: TLS, 1 user.\n',
    });
    expect(await runExporter(['check', `--web.config.file=${wrong}`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tls_server_config.cert_file: cannot be read: there is no such file'),
    });
  });
});
