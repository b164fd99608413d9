import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConnection } from '../../../../src/commands/admin/gateway-client.ts';
import type { Flags } from '../../../../src/commands/flags.ts';
import { givenFolder } from '../../../support/folder.ts';
import { makeMaterial } from '../../../support/tls-server.ts';

const canary = 'zlb_CanaryToken0123456789';

function givenFile(text: string): string {
  const folder = givenFolder();
  const path = join(folder, 'file');
  writeFileSync(path, text);
  return path;
}

const read = (flags: Flags, env: Record<string, string> = { ZLB_ADMIN_TOKEN: canary }) =>
  readConnection({ flags, env });

describe('the connection to the gateway', () => {
  it('defaults to loopback', async () => {
    expect(await read({})).toMatchObject({ url: 'http://127.0.0.1:9445' });
  });

  it('takes an empty variable as unset', async () => {
    const { url, token } = await read({}, { ZLB_ADMIN_URL: '', ZLB_ADMIN_TOKEN_FILE: '', ZLB_ADMIN_TOKEN: canary });

    expect([url, token.reveal()]).toEqual(['http://127.0.0.1:9445', canary]);
  });

  it('prefers a flag to the environment, for URL and token', async () => {
    const env = {
      ZLB_ADMIN_URL: 'https://other.example.com',
      ZLB_ADMIN_TOKEN_FILE: givenFile('from-environment\n'),
      ZLB_ADMIN_TOKEN: 'from-variable',
    };

    const byFlag = await read(
      { 'admin.url': 'https://lb.example.com/gw/', 'admin.token-file': givenFile(' t-1 \n') },
      env,
    );
    const byEnvironment = await read({}, env);

    expect(byFlag.url).toBe('https://lb.example.com/gw');
    expect(byFlag.token.reveal()).toBe('t-1');
    expect(byEnvironment.url).toBe('https://other.example.com');
    expect(byEnvironment.token.reveal()).toBe('from-environment');
  });

  it.each(['http://127.0.0.1:9445', 'http://127.8.8.8', 'http://localhost:1', 'http://[::1]:9445'])(
    'permits %s without TLS',
    async (url) => {
      expect(await read({ 'admin.url': url })).toMatchObject({ url });
    },
  );

  it.each([
    'http://192.0.2.1',
    'http://lb.example.com:9445',
    'http://127.0.0.1.example.com',
    'http://[::2]',
    'http://localhost.',
  ])('refuses %s, because others could read the token', async (url) => {
    await expect(read({ 'admin.url': url })).rejects.toThrow(/^a token is not sent to .* over plain http/);
  });

  it.each([
    'lb.example.com',
    'ftp://x',
    '',
    `https://alice:${canary}@lb`,
    `https://lb/?token=${canary}`,
    `https://lb/#${canary}`,
  ])('refuses the malformed URL %s, and does not repeat it', async (url) => {
    const message = await read({ 'admin.url': url }).catch(String);

    expect(message).toContain('--admin.url (or ZLB_ADMIN_URL) must be a URL');
    expect(message).not.toContain('Canary');
  });

  it.each([
    [{}, /^no token: put it into a file of yours and give --admin.token-file=PATH/],
    [{ ZLB_ADMIN_TOKEN: '', ZLB_ADMIN_TOKEN_FILE: '' }, /^no token: put it into a file/],
    [{ ZLB_ADMIN_TOKEN: ' ' }, /ZLB_ADMIN_TOKEN contains no token/],
    [{ ZLB_ADMIN_TOKEN: `${canary} ${canary}` }, /ZLB_ADMIN_TOKEN contains no token/],
    [{ ZLB_ADMIN_TOKEN: `${canary}\u0007` }, /ZLB_ADMIN_TOKEN contains no token/],
    [{ ZLB_ADMIN_TOKN: canary }, /ZLB_ADMIN_TOKN has no effect; did you mean ZLB_ADMIN_TOKEN\?/],
  ])('needs a token, and does not repeat a malformed one: %j', async (env, message) => {
    const error: unknown = await read({}, env).catch((thrown: unknown) => thrown);

    expect(error).toHaveProperty('message', expect.stringMatching(message));
    expect(String(error)).not.toContain('Canary');
  });

  it('reports the problem of a token file, without its path or content', async () => {
    const missing = await read({ 'admin.token-file': `/nowhere/${canary}` }, {}).catch(String);
    const folder = await read({ 'admin.token-file': tmpdir() }, {}).catch(String);

    expect(missing).toContain('the token file cannot be read: there is no such file');
    expect(missing).not.toContain('Canary');
    expect(folder).toContain('the token file cannot be read: it is a folder');
  });

  it('accepts a certificate authority, a client certificate and its key', async () => {
    const { cert, key } = makeMaterial();

    const connection = await read({
      'admin.url': 'https://lb.example.com',
      'admin.ca-file': givenFile(cert),
      'admin.cert-file': givenFile(cert),
      'admin.key-file': givenFile(key),
    });

    expect(connection).toMatchObject({ ca: cert.trimEnd().concat('\n'), key: expect.anything() });
    expect(JSON.stringify(connection)).not.toContain('PRIVATE');
  });

  it.each([
    [{ 'admin.cert-file': 'cert' }, '--admin.cert-file and --admin.key-file go together'],
    [{ 'admin.key-file': 'key' }, '--admin.cert-file and --admin.key-file go together'],
    [{ 'admin.ca-file': 'cert', 'admin.url': 'http://localhost' }, 'certificates are only used with https'],
    [{ 'admin.ca-file': 'key' }, '--admin.ca-file contains no PEM certificate'],
    [{ 'admin.cert-file': 'key', 'admin.key-file': 'key' }, '--admin.cert-file contains no PEM certificate'],
    [{ 'admin.cert-file': 'cert', 'admin.key-file': 'cert' }, '--admin.key-file contains no PEM private key'],
    [{ 'admin.cert-file': 'cert', 'admin.key-file': 'other key' }, 'the private key must belong to the certificate'],
  ])('refuses %j', async (wanted, message) => {
    const { cert, key } = makeMaterial();
    const files = { cert: givenFile(cert), key: givenFile(key), 'other key': givenFile(makeMaterial().key) };
    const flags = Object.fromEntries(
      Object.entries(wanted).map(([name, value]) => [name, files[value as keyof typeof files] ?? value]),
    );

    await expect(read({ 'admin.url': 'https://lb', ...flags })).rejects.toThrow(message);
  });
});
