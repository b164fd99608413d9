import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { createCertificate } from '../../../simulator/certificate.ts';
import { makeMaterial } from '../../support/tls-server.ts';
import { loadText, refusal } from './given-config.ts';

const block = (more = '') => `
appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]
admin:
  listen_address: :9445
  tls: { cert_file: cert.pem, key_file: key.pem${more} }
  tokens: [{ name: alice, sha256: ${'ab'.repeat(32)}, role: viewer }]
`;

it('the certificate of the admin listener is read with its key and client authorities only', async () => {
  const [own, authority] = [makeMaterial(), makeMaterial({ name: 'authority' })];

  const settings = await loadText(block(', client_ca_file: clients.pem'), {
    files: {
      'cert.pem': `bag attributes\n${own.cert}\n${authority.cert}${own.key}`,
      'key.pem': `${own.cert}\n${own.key}`,
      'clients.pem': `${authority.key}${authority.cert}`,
    },
  });

  const { tls } = settings.admin ?? {};
  expect(tls?.cert).toBe(`${own.cert.trim()}\n${authority.cert.trim()}\n`);
  expect(tls?.key.reveal()).toBe(`${own.key.trim()}\n`);
  expect(tls?.clientCa).toBe(`${authority.cert.trim()}\n`);
  expect(JSON.stringify(settings)).not.toContain('PRIVATE KEY');
});

it('the certificate of the admin listener may have a key in an older form', async () => {
  const { cert, key } = makeMaterial();
  const older = createPrivateKey(key).export({ type: 'sec1', format: 'pem' }).toString();

  const { admin } = await loadText(block(), { files: { 'cert.pem': cert, 'key.pem': older } });

  expect(admin?.tls?.key.reveal()).toContain('-----BEGIN EC PRIVATE KEY-----');
  expect(admin?.tls).not.toHaveProperty('clientCa');
});

it.each([
  [
    'belongs to the second certificate',
    () => {
      const [own, authority] = [makeMaterial(), makeMaterial()];
      return { 'cert.pem': `${authority.cert}\n${own.cert}`, 'key.pem': own.key };
    },
    'does not belong to the first certificate in cert_file; give the key of that one, and put it before the certificates of its authorities',
  ],
  [
    'has a passphrase',
    () => {
      const { cert, key } = makeMaterial();
      const locked = createPrivateKey(key).export({
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'f1x7ure',
      });
      return { 'cert.pem': cert, 'key.pem': locked.toString() };
    },
    'is protected by a passphrase, and nobody is there to type it; `openssl pkey -in KEY -out PLAIN_KEY` takes it off',
  ],
  [
    'is a certificate',
    () => {
      const { cert } = makeMaterial();
      return { 'cert.pem': cert, 'key.pem': cert };
    },
    'contains no PEM private key; it needs a part from "-----BEGIN PRIVATE KEY-----" to "-----END PRIVATE KEY-----"',
  ],
  [
    'is too short for TLS',
    () => {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
      const dates = { notBefore: new Date('2026-01-01'), notAfter: new Date('2126-01-01') };
      const { cert, key } = createCertificate({ subject: { CN: 'short' }, key: privateKey, ...dates });
      return { 'cert.pem': cert, 'key.pem': key };
    },
    'cannot be used for TLS with the certificate in cert_file (ERR_SSL_EE_KEY_TOO_SMALL); make new ones, with an EC key or an RSA key of 2048 bits or more',
  ],
])('the certificate of the admin listener is refused when its key %s', async (_what, given, message) => {
  const refused = await refusal(loadText(block(), { files: given() }));

  expect(refused).toEqual([`zlb.yml:5:41: admin.tls.key_file: ${message}`]);
});

it('the certificate of the admin listener is reported together with the other errors', async () => {
  const files = { 'cert.pem': makeMaterial().cert, 'key.pem': makeMaterial().key };

  const refused = await refusal(loadText(block(', client_ca_file: none.pem'), { files }));

  expect(refused).toEqual([
    expect.stringMatching(/^zlb\.yml:5:41: admin\.tls\.key_file: does not belong to the first certificate/),
    expect.stringMatching(/^zlb\.yml:5:66: admin\.tls\.client_ca_file: cannot be read: there is no such file/),
  ]);
});
