import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createCertificate } from '../../../simulator/certificate.ts';
import { certificatesIn, namesOf, pairProblem, privateKeyIn, shownNameOf } from '../../../src/lib/pem.ts';

const dates = { notBefore: new Date('2026-11-01'), notAfter: new Date('2027-02-01') };
const { cert, key } = createCertificate({ subject: { CN: 'shop.example.com' }, ...dates });

it('a PEM text with many beginnings and no end is scanned once', () => {
  // Each took 40 s when every beginning was searched for its end.
  const before = process.threadCpuUsage();

  const found = [
    certificatesIn('-----BEGIN CERTIFICATE-----'.repeat(38_000)),
    privateKeyIn('-----BEGIN PRIVATE KEY-----'.repeat(38_000)),
  ];

  expect(found.map((each) => 'error' in each && each.error)).toEqual([
    'certificate 1 of 1 in it is damaged; export it again',
    'the private key in it is damaged; export it again',
  ]);
  expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000);
});

it('a PEM text that was truncated is reported as damaged', () => {
  expect(certificatesIn(cert + cert.slice(0, 200))).toEqual({
    error: 'certificate 2 of 2 in it is damaged; export it again',
  });
  expect(privateKeyIn(key.slice(0, 100))).toEqual({
    error: 'the private key in it is damaged; export it again',
  });
});

it.each([
  ['with an empty subject', {}, ['DNS:b.test', 'DNS:a.test'], ['b.test', 'a.test'], 'b.test'],
  ['with an organisation alone', { OU: 'CN=unit' }, ['DNS:a.test'], ['a.test'], 'a.test'],
  ['with a common name', { CN: 'shop' }, ['DNS:a.test'], ['a.test'], 'shop'],
  ['with a common name alone', { CN: 'Shop, the' }, [], ['Shop, the'], 'Shop, the'],
  ['without any name', {}, [], [], undefined],
  ['with a comma in a name', {}, ['DNS:a, DNS:forged', 'DNS:b'], ['a, DNS:forged', 'b'], 'a, DNS:forged'],
  ['with addresses', {}, ['IP:2001:db8::1', 'IP:192.0.2.1'], ['2001:db8::1', '192.0.2.1'], '2001:db8::1'],
])('a certificate %s is parsed with its names', (_, subject, altNames, names, shown) => {
  const made = createCertificate({ subject, altNames, ...dates });
  const read = certificatesIn(made.cert);
  const privateKey = privateKeyIn(made.key);

  expect(read).toEqual({ value: `${made.cert.trim()}\n` });
  expect('value' in privateKey && pairProblem(made.cert, privateKey.value, 'cert_file')).toBeUndefined();
  const certificate = new X509Certificate(made.cert);
  expect([namesOf(certificate), shownNameOf(certificate)]).toEqual([names, shown]);
});
