import { describe, expect, it } from 'vitest';
import { createCertificate } from '../../../simulator/certificate.ts';
import { certificatesIn, privateKeyIn } from '../../../src/lib/pem.ts';

const { cert, key } = createCertificate({
  subject: { CN: 'shop.example.com' },
  notBefore: new Date('2026-11-01'),
  notAfter: new Date('2027-02-01'),
});

describe('a PEM text', () => {
  it('that has many beginnings and no end is read once', () => {
    // Each took 40 s when every beginning was searched for its end.
    const started = performance.now();

    const found = [
      certificatesIn('-----BEGIN CERTIFICATE-----'.repeat(38_000)),
      privateKeyIn('-----BEGIN PRIVATE KEY-----'.repeat(38_000)),
    ];

    expect(found.map((each) => 'problem' in each && each.problem)).toEqual([
      'certificate 1 of 1 in it is damaged; export it again',
      'the private key in it is damaged; export it again',
    ]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('that was cut off is damaged', () => {
    expect(certificatesIn(cert + cert.slice(0, 200))).toEqual({
      problem: 'certificate 2 of 2 in it is damaged; export it again',
    });
    expect(privateKeyIn(key.slice(0, 100))).toEqual({
      problem: 'the private key in it is damaged; export it again',
    });
  });
});
