import { describe, expect, it } from 'vitest';
import { certificates } from '../../../src/collectors/certificates.ts';
import { collectFrom, familiesOf, linesOf } from './given-replies.ts';

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
    expect(collected.states).toEqual(['certificate shop.pem about_to_expire']);
  });

  it('writes the most important metrics first, also if the first certificate lacks fields', async () => {
    const collected = await collectFrom(certificates, {
      listCertificates: { params: [{ file: 'bare.pem' }, certificate()] },
    });

    expect(familiesOf(collected)).toEqual(certificates.families.map(({ family }) => family.name));
    expect(familiesOf(collected).at(-1)).toBe('zlb_certificate_info');
  });

  it('reports unreadable dates instead of an expiry in 1970', async () => {
    const broken = certificate({
      file: 'broken.pem',
      CN: '-',
      issuer: '-',
      creation: '-',
      expiration: '-',
      status: 'unknown',
    });

    const collected = await collectFrom(certificates, { listCertificates: { params: [broken] } });

    expect(linesOf(collected, 'zlb_certificate_parse_error')).toMatch(/ 1$/);
    expect(collected.text).not.toContain('timestamp_seconds');
    expect(linesOf(collected, 'zlb_certificate_status')).toContain('status="unknown"} 1');
  });

  it.each([
    ['creation', 'not_before'],
    ['expiration', 'not_after'],
  ])('reports an unreadable %s, and leaves that date out', async (field, date) => {
    const half = certificate({ [field]: 'Smarch 13 00:00:00 2026 GMT' });

    const collected = await collectFrom(certificates, { listCertificates: { params: [half] } });

    expect(linesOf(collected, 'zlb_certificate_parse_error')).toBe(
      'zlb_certificate_parse_error{appliance="lb",file="shop.pem"} 1',
    );
    const dates = ['not_before', 'not_after'].filter((each) => collected.text.includes(`${each}_timestamp_seconds{`));
    expect(dates).toEqual(['not_before', 'not_after'].filter((each) => each !== date));
  });

  it('keeps the date of an expired and of an invalid certificate', async () => {
    const list = [
      certificate({ file: 'old.pem', expiration: 'Oct 16 20:49:58 2025 GMT', status: 'expired' }),
      certificate({ file: 'bad.pem', status: 'invalid' }),
    ];

    const collected = await collectFrom(certificates, { listCertificates: { params: list } });

    expect(linesOf(collected, 'zlb_certificate_not_after_timestamp_seconds')).toMatchInlineSnapshot(`
      "zlb_certificate_not_after_timestamp_seconds{appliance="lb",file="old.pem"} 1760647798
      zlb_certificate_not_after_timestamp_seconds{appliance="lb",file="bad.pem"} 1796860799"
    `);
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

  it('reads only the list, because a download has the private key', async () => {
    const collected = await collectFrom(certificates, { listCertificates: { params: [certificate()] } });

    expect(collected.asked).toEqual(['listCertificates']);
  });
});
