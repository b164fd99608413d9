import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCertificate } from '../../../simulator/certificate.ts';

const subject = { CN: 'shop.test', OU: 'a unit' };
const dates = { notBefore: new Date('2026-01-02T03:04:05Z'), notAfter: new Date('2027-01-02T03:04:05Z') };

describe('a simulated certificate', () => {
  it('has the names, usages and dates that were asked for, and belongs to its key', () => {
    const { key, cert } = createCertificate({
      subject,
      ...dates,
      altNames: ['DNS:*.shop.test', 'IP:192.0.2.7', 'IP:2001:db8::7', 'IP:::1', 'email:me@shop.test', 'URI:urn:x:y'],
      usages: ['serverAuth', 'clientAuth'],
    });
    const read = new X509Certificate(cert);

    expect(read.subject).toBe('CN=shop.test\nOU=a unit');
    expect(read.issuer).toBe(read.subject);
    expect(read.subjectAltName?.split(', ')).toEqual([
      'DNS:*.shop.test',
      'IP Address:192.0.2.7',
      'IP Address:2001:DB8:0:0:0:0:0:7',
      'IP Address:0:0:0:0:0:0:0:1',
      'email:me@shop.test',
      'URI:urn:x:y',
    ]);
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect([Date.parse(read.validFrom), Date.parse(read.validTo)]).toEqual([+dates.notBefore, +dates.notAfter]);
    expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(read.verify(read.publicKey)).toBe(true);
  });

  it.each(['ec', 'rsa'] as const)('is signed by an authority with an %s key', (type) => {
    const key = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey : undefined;
    const authority = createCertificate({ subject: { CN: 'us' }, ...dates, isAuthority: true, ...(key && { key }) });
    const read = new X509Certificate(createCertificate({ subject, ...dates, issuer: authority }).cert);
    const signer = new X509Certificate(authority.cert);

    expect([signer.ca, read.ca]).toEqual([true, false]);
    expect(signer.publicKey.asymmetricKeyType).toBe(type);
    expect(read.checkIssued(signer)).toBe(true);
    expect(read.verify(signer.publicKey)).toBe(true);
  });

  it.each([
    ['1950-01-01T00:00:00Z', '2049-12-31T23:59:59Z', 'UTCTIME'],
    ['1949-12-31T23:59:59Z', '2050-01-01T00:00:00Z', 'GENERALIZEDTIME'],
    ['1000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 'GENERALIZEDTIME'],
  ])('may be valid from %s to %s', (from, to, form) => {
    const { cert } = createCertificate({ subject, notBefore: new Date(from), notAfter: new Date(to) });
    const read = new X509Certificate(cert);

    expect([new Date(read.validFrom), new Date(read.validTo)]).toEqual([new Date(from), new Date(to)]);
    expect(openssl('asn1parse', cert).match(/UTCTIME|GENERALIZEDTIME/g)).toEqual([form, form]);
  });

  it.each([
    [0n, '00'],
    [127n, '7F'],
    [128n, '80'],
    [-1n, '-01'],
    [-128n, '-80'],
    [-129n, '-81'],
    [-(2n ** 64n), '-010000000000000000'],
    [2n ** 159n - 1n, '7F'.padEnd(40, 'F')],
  ])('may have the serial number %s', (serial, shown) => {
    const { cert } = createCertificate({ subject, ...dates, serial });

    expect(openssl('x509', cert, '-noout', '-serial')).toBe(`serial=${shown}\n`);
  });

  it('holds 5,000 names', () => {
    const altNames = Array.from({ length: 5_000 }, (_, number) => `DNS:shop-${number}.test`);
    const { cert } = createCertificate({ subject, ...dates, altNames });

    expect(new X509Certificate(cert).subjectAltName?.split(', ')).toEqual(altNames);
  });
});

function openssl(command: string, cert: string, ...flags: string[]): string {
  return execFileSync('openssl', [command, ...flags], { input: cert, encoding: 'utf8' });
}
