import { describe, expect, it } from 'vitest';
import { certificates } from '../../../src/collectors/certificates.ts';
import { collectFrom, linesOf } from './given-replies.ts';

const certificate = (more: object = {}) => ({
  file: 'shop.pem',
  type: 'Certificate',
  CN: 'shop.example.com',
  issuer: 'Example CA',
  creation: 'Nov  6 00:00:00 2025 GMT',
  expiration: 'Dec  9 23:59:59 2026 GMT',
  status: 'about to expire',
  ...more,
});

const request = {
  file: 'new.csr',
  type: 'CSR',
  CN: 'new.example.com',
  issuer: 'NA',
  creation: 'Oct 30 11:02:03 2026 GMT',
  expiration: 'NA',
  status: 'valid',
};

describe('the certificates collector', () => {
  it('writes dates and state of certificates, and neither for a signing request', async () => {
    const collected = await collectFrom(certificates, { listCertificates: { params: [certificate(), request] } });

    expect(collected.text).toMatchInlineSnapshot(`
      "zlb_certificates{appliance="lb",kind="certificate"} 1
      zlb_certificates{appliance="lb",kind="csr"} 1
      zlb_certificate_not_after_timestamp_seconds{appliance="lb",file="shop.pem"} 1796860799
      zlb_certificate_status{appliance="lb",file="shop.pem",status="valid"} 0
      zlb_certificate_status{appliance="lb",file="shop.pem",status="about_to_expire"} 1
      zlb_certificate_status{appliance="lb",file="shop.pem",status="expired"} 0
      zlb_certificate_status{appliance="lb",file="shop.pem",status="invalid"} 0
      zlb_certificate_status{appliance="lb",file="shop.pem",status="unknown"} 0
      zlb_certificate_parse_error{appliance="lb",file="shop.pem"} 0
      zlb_certificate_parse_error{appliance="lb",file="new.csr"} 0
      zlb_certificate_not_before_timestamp_seconds{appliance="lb",file="shop.pem"} 1762387200
      zlb_certificate_info{appliance="lb",file="shop.pem",common_name="shop.example.com",issuer="Example CA",kind="certificate"} 1
      zlb_certificate_info{appliance="lb",file="new.csr",common_name="new.example.com",issuer="NA",kind="csr"} 1
      "
    `);
    expect(collected.data[1]).toMatchObject({ notBeforeSeconds: undefined, notAfterSeconds: undefined });
    expect(collected.states).toEqual(['certificate shop.pem about_to_expire']);
    expect(collected.asked, 'a download has the private key').toEqual(['listCertificates']);
  });

  it.each([
    [{ creation: '-', expiration: '-' }, []],
    [{ creation: 'Smarch 13 00:00:00 2026 GMT' }, ['not_after']],
    [{ expiration: 'Smarch 13 00:00:00 2026 GMT' }, ['not_before']],
  ])('reports the unreadable dates %j instead of one in 1970, and writes %j', async (unreadable, written) => {
    const collected = await collectFrom(certificates, { listCertificates: { params: [certificate(unreadable)] } });

    expect(linesOf(collected, 'zlb_certificate_parse_error')).toBe(
      'zlb_certificate_parse_error{appliance="lb",file="shop.pem"} 1',
    );
    expect(collected.text.match(/not_\w+(?=_timestamp_seconds\{)/g) ?? []).toEqual(written);
  });

  it.each(['expired', 'invalid'])('keeps the date of a certificate that is %s', async (status) => {
    const collected = await collectFrom(certificates, { listCertificates: { params: [certificate({ status })] } });

    expect(linesOf(collected, 'zlb_certificate_not_after_timestamp_seconds')).toMatch(/ 1796860799$/);
  });

  it('reads rows without fields, and counts both kinds also at 0', async () => {
    const bare = await collectFrom(certificates, {
      listCertificates: { params: [{ file: 'a.pem' }, { file: 'b.csr' }] },
    });
    const empty = await collectFrom(certificates, { listCertificates: { params: [] } });

    expect(bare.text).not.toMatch(/undefined|null|NaN/);
    expect(bare.states).toEqual(['certificate a.pem unknown']);
    expect(linesOf(bare, 'zlb_certificates')).toBe(
      'zlb_certificates{appliance="lb",kind="certificate"} 1\nzlb_certificates{appliance="lb",kind="csr"} 1',
    );
    expect(empty.text).toBe(
      'zlb_certificates{appliance="lb",kind="certificate"} 0\nzlb_certificates{appliance="lb",kind="csr"} 0\n',
    );
  });
});
