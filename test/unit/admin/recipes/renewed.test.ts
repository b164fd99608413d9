import { describe, expect, it } from 'vitest';
import { createCertificate } from '../../../../simulator/certificate.ts';
import { renewedFrom } from '../../../../src/admin/recipes/renewed.ts';

const dayMs = 86_400_000;
const name = 'shop.example.com';
const nowMs = Date.parse('2026-11-20T12:00:00Z');

const issue = (from = -1, until = 89, parts: Partial<Parameters<typeof createCertificate>[0]> = {}) =>
  createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(nowMs + from * dayMs),
    notAfter: new Date(nowMs + until * dayMs),
    ...parts,
  });

const read = (cert: string, key: string) =>
  renewedFrom({ path: 'fullchain.pem', text: cert }, { path: 'privkey.pem', text: key }, nowMs);

describe('a renewed certificate', () => {
  const good = issue();
  const [early, late] = [issue(2), issue(-90, -1)];

  it.each([
    ['is empty', '', good.key, 'fullchain.pem holds no PEM certificate'],
    ['is cut off', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', good.key, 'is damaged'],
    ['has the key of another', good.cert, issue().key, 'is that of no certificate in fullchain.pem'],
    [
      'has a key with a passphrase',
      good.cert,
      good.key.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'),
      'is protected by a passphrase',
    ],
    ['has no key', good.cert, '', 'holds no PEM private key'],
    ['is not valid yet', early.cert, early.key, 'It is valid from 2026-11-22 only'],
    ['has expired', late.cert, late.key, 'It expired on 2026-11-19'],
  ])('that %s is refused', (_, cert, key, message) => {
    expect(() => read(cert, key)).toThrow(new RegExp(`${message}.*Nothing was changed`));
  });

  it('may stand in any order, with comments and Windows line ends', () => {
    const authority = issue(-1, 900, { subject: { CN: 'Test CA' }, isAuthority: true });
    const leaf = issue(-1, 89, { issuer: authority });
    const windows = (text: string) => text.replaceAll('\n', '\r\n');
    const odd = `# the chain\n${authority.cert}\nsubject=CN = shop\n${leaf.cert}`;

    const { bytes, names, file } = read(windows(odd), windows(leaf.key));

    expect(bytes.toString().startsWith(leaf.cert.trim())).toBe(true);
    expect(bytes.toString().match(/BEGIN (?:EC )?[A-Z ]+/g)).toEqual([
      'BEGIN CERTIFICATE',
      'BEGIN CERTIFICATE',
      'BEGIN PRIVATE KEY',
    ]);
    expect(bytes.toString()).not.toContain('\r');
    expect(names).toEqual([name]);
    expect(file).toMatch(/^shop\.example\.com-[\da-f]{12}\.pem$/);
  });
});
