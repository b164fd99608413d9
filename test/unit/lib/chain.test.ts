import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createCertificate } from '../../../simulator/certificate.ts';
import { chainOf, lifeOf } from '../../../src/lib/chain.ts';
import { dayMs } from '../../support/issue.ts';

it('a chain among two hundred certificates of one name and one key needs few signature checks', () => {
  const dates = { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + dayMs) };
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const authority = (CN: string) => ({ subject: { CN }, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() });
  // Two that sign each other, so that no chain ends.
  const [one, other] = [authority('one'), authority('other')];
  const issuedBy = (issuer: typeof one, subject: { readonly CN: string }) =>
    new X509Certificate(createCertificate({ subject, issuer, key, isAuthority: true, ...dates }).cert);
  const others = Array.from({ length: 200 }, (_, index) =>
    index % 2 === 0 ? issuedBy(one, other.subject) : issuedBy(other, one.subject),
  );
  const leaf = issuedBy(one, { CN: 'shop.test' });
  const verify = vi.spyOn(X509Certificate.prototype, 'verify');
  onTestFinished(() => verify.mockRestore());

  expect(chainOf(leaf, others, Date.now())).toHaveLength(8);
  expect(verify.mock.calls.length).toBeLessThan(30);
});

it('an unreadable date of a certificate is not a number, and not any other day', () => {
  const notAfter = new Date('2027-02-03T04:05:06Z');
  const { cert } = createCertificate({ subject: { CN: 'odd' }, notBefore: new Date(0), notAfter });
  const bytes = Buffer.from(new X509Certificate(cert).raw);
  bytes.write('27zz', bytes.indexOf('270203040506Z'));

  expect(lifeOf(new X509Certificate(cert))).toEqual({ startsAtMs: 0, endsAtMs: notAfter.getTime() });
  expect(lifeOf(new X509Certificate(bytes))).toEqual({ startsAtMs: 0, endsAtMs: Number.NaN });
});
