import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/lib/secret.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { makeMaterial } from '../../support/tls-server.ts';
import { givenAdminCli } from './given-admin-cli.ts';

/** A gateway that speaks TLS, and asks for certificates of clients where `clientCa` says so. */
async function given({ clientCa }: { readonly clientCa?: string } = {}) {
  const { cert, key } = makeMaterial();
  const tls = { cert, key: new Secret(key), ...(clientCa === undefined ? {} : { clientCa }) };
  const cli = await givenAdminCli({ 'lb-1': recordedWorld() }, { admin: { tls } });
  return { ...cli, ca: `--admin.ca-file=${await cli.file('ca.pem', cert)}` };
}

describe('the connection to a gateway with TLS', () => {
  it('succeeds when the certificate is trusted', async () => {
    const { run, ca } = await given();

    expect(await run(['admin', 'whoami', ca])).toMatchObject({ code: 0, err: '' });
  });

  it('fails on an untrusted certificate, whatever the environment says, before the token is sent', async () => {
    const { run, file, url } = await given();
    const stranger = await file('other.pem', makeMaterial().cert);
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

    const untrusted = await run(['admin', 'whoami']);
    const other = await run(['admin', 'whoami', `--admin.ca-file=${stranger}`]);

    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    for (const { code, err } of [untrusted, other]) {
      expect(code).toBe(1);
      expect(err).toMatch(
        /did not respond\n {2}self-signed certificate\n {2}.*--admin\.ca-file=PATH names the authority/,
      );
    }
    expect(url).toMatch(/^https:/);
  });

  it('fails when the gateway speaks plain HTTP, or when the URL omits TLS', async () => {
    const plain = await givenAdminCli({ 'lb-1': recordedWorld() });
    const secure = await given();

    const tooMuch = await plain.run(['admin', 'whoami', `--admin.url=${plain.url.replace('http:', 'https:')}`]);
    const tooLittle = await secure.run(['admin', 'whoami', `--admin.url=${secure.url.replace('https:', 'http:')}`]);

    expect(tooMuch.code).toBe(1);
    expect(tooMuch.err).toContain('most likely it speaks plain HTTP.\n  Write http:// in --admin.url');
    expect(tooMuch.err).not.toContain('OpenSSL');
    expect(tooLittle.code).toBe(1);
    expect(tooLittle.err).toContain('If the gateway speaks TLS, write https:// in --admin.url');
  });

  it('fails when the certificate is for another name', async () => {
    const { run, ca, url } = await given();

    const { code, err } = await run(['admin', 'whoami', ca, `--admin.url=${url.replace('127.0.0.1', 'localhost')}`]);

    expect(code).toBe(1);
    expect(err).toContain('Check the name in --admin.url');
  });

  it('presents a client certificate when the gateway demands one', async () => {
    const mine = makeMaterial();
    const { run, ca, file } = await given({ clientCa: mine.cert });
    const certificate = [
      `--admin.cert-file=${await file('me.pem', mine.cert)}`,
      `--admin.key-file=${await file('me.key', mine.key)}`,
    ];

    const without = await run(['admin', 'whoami', ca]);
    const withIt = await run(['admin', 'whoami', ca, ...certificate]);

    expect(without.code).toBe(1);
    expect(without.err).toMatch(/did not respond/);
    expect(withIt).toMatchObject({ code: 0, err: '' });
  });
});
