import { describe, expect, it } from 'vitest';
import { certificatesCollector } from '../../../src/collectors/certificates.ts';
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

describe('the certificates collector', () => {
  it.each([
    [{ creation: '-', expiration: '-' }, []],
    [{ creation: 'Smarch 13 00:00:00 2026 GMT' }, ['not_after']],
    [{ expiration: 'Smarch 13 00:00:00 2026 GMT' }, ['not_before']],
  ])('reports the unreadable dates %j instead of one in 1970, and writes %j', async (unreadable, written) => {
    const collected = await collectFrom(certificatesCollector, {
      listCertificates: { params: [certificate(unreadable)] },
    });

    expect(linesOf(collected, 'zlb_certificate_parse_error')).toBe(
      'zlb_certificate_parse_error{appliance="lb",file="shop.pem"} 1',
    );
    expect(collected.text.match(/not_\w+(?=_timestamp_seconds\{)/g) ?? []).toEqual(written);
  });

  it.each(['expired', 'invalid'])('keeps the date of a certificate that is %s', async (status) => {
    const collected = await collectFrom(certificatesCollector, {
      listCertificates: { params: [certificate({ status })] },
    });

    expect(linesOf(collected, 'zlb_certificate_not_after_timestamp_seconds')).toMatch(/ 1796860799$/);
  });

  it('reads rows without fields, and counts both kinds even at 0', async () => {
    const bare = await collectFrom(certificatesCollector, {
      listCertificates: { params: [{ file: 'a.pem' }, { file: 'b.csr' }] },
    });
    const empty = await collectFrom(certificatesCollector, { listCertificates: { params: [] } });

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
