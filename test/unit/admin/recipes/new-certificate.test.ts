import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCertificate, type Identity } from '../../../../simulator/certificate.ts';
import { partOf } from '../../../../src/lib/pem.ts';
import { readNewCertificate } from '../../../../src/admin/recipes/new-certificate.ts';

const dayMs = 86_400_000;
const name = 'shop.example.com';
const nowMs = Date.parse('2026-11-20T12:00:00Z');
/** Of two certificates of one authority. */
const interKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const issue = (from = -1, until = 89, parts: Partial<Parameters<typeof createCertificate>[0]> = {}) =>
  createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(nowMs + from * dayMs),
    notAfter: new Date(nowMs + until * dayMs),
    ...parts,
  });

const read = (cert: string, key: string) =>
  readNewCertificate({ path: 'fullchain.pem', text: cert }, { path: 'privkey.pem', text: key }, { nowMs });

describe('the chain of a renewed certificate', () => {
  const root = issue(-1, 3_000, { subject: { CN: 'Zoo Root' }, isAuthority: true });
  const [inter, ended] = [600, -1].map((until) =>
    issue(-90, until, {
      subject: { CN: 'Zoo Inter' },
      isAuthority: true,
      issuer: root,
      ...(until < 0 && { key: createPrivateKey(interKey) }),
    }),
  ) as [Identity, Identity];
  const valid = issue(-90, 700, {
    subject: { CN: 'Zoo Inter' },
    isAuthority: true,
    issuer: root,
    key: createPrivateKey(interKey),
  });
  const leaf = issue(-1, 89, { issuer: inter });
  const ofTwins = issue(-1, 89, { issuer: valid });
  const partsOf = (bytes: Buffer): readonly string[] =>
    (bytes.toString().match(/-----BEGIN CERT.*?END CERTIFICATE-----/gs) ?? []).map((pem) => pem.trim());

  it.each([
    ['the certificate alone', leaf.cert, 'fullchain.pem lacks the certificate of Zoo Inter'],
    ['no root', leaf.cert + inter.cert, 'lacks the certificate of Zoo Root, which issued the last one in it'],
    ['an authority that did not sign it', leaf.cert + valid.cert, 'lacks the certificate of Zoo Inter'],
    ['an intermediate that ended', ofTwins.cert + ended.cert + root.cert, 'Zoo Inter in fullchain.pem is valid from'],
  ])('is refused with %s, unless a flag permits it', (_, cert, message) => {
    expect(() => read(cert, cert.startsWith(leaf.cert) ? leaf.key : ofTwins.key)).toThrow(message);
    const text = { path: 'fullchain.pem', text: cert };
    const key = cert.startsWith(leaf.cert) ? leaf.key : ofTwins.key;
    expect(readNewCertificate(text, { path: 'k', text: key }, { nowMs, isIncompleteAllowed: true }).names).toEqual([
      name,
    ]);
  });

  it('continues through the valid one of two intermediates, in any order', () => {
    for (const twins of [ended.cert + valid.cert, valid.cert + ended.cert]) {
      const { bytes } = read(ofTwins.cert + twins + root.cert, ofTwins.key);
      expect(partsOf(bytes)).toEqual([ofTwins.cert, valid.cert, root.cert].map((pem) => pem.trim()));
    }
  });

  it('may end below a root of this machine, which is not delivered', () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, root.cert]);
    onTestFinished(() => setDefaultCACertificates(before));

    expect(partsOf(read(leaf.cert + inter.cert, leaf.key).bytes)).toHaveLength(2);
  });

  it('has the right common name in a multi-valued subject', () => {
    expect(partOf('O=Zoo\nUID=17 + CN=shop.example.com + L=Lyon', 'CN')).toBe('shop.example.com');
    expect(partOf('O=Zoo\nUID=17 + CN=a \\+ b', 'CN')).toBe('a + b');
  });
});

describe('a renewed certificate', () => {
  const good = issue();
  const [early, late] = [issue(2), issue(-90, -1)];

  it.each([
    ['is empty', '', good.key, 'fullchain.pem contains no PEM certificate'],
    ['is cut off', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', good.key, 'is damaged'],
    [
      'has the key of another certificate',
      good.cert,
      issue().key,
      'does not belong to any certificate in fullchain.pem',
    ],
    [
      'has a key with a passphrase',
      good.cert,
      good.key.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'),
      'is protected by a passphrase',
    ],
    ['has no key', good.cert, '', 'contains no PEM private key'],
    ['is not valid yet', early.cert, early.key, 'It is valid from 2026-11-22 only'],
    ['has expired', late.cert, late.key, 'It expired on 2026-11-19'],
  ])('is refused when it %s', (_, cert, key, message) => {
    expect(() => read(cert, key)).toThrow(new RegExp(`${message}.*Nothing was changed`));
  });

  it('may contain its parts in any order, with comments and Windows line ends', () => {
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

it.each([
  ['end', '270217120000Z'],
  ['beginning', '261119120000Z'],
])('a renewed certificate is refused when its %s cannot be read', (_, time) => {
  const { cert, key } = issue();
  const der = Buffer.from(cert.replaceAll(/-----[^-]+-----/g, ''), 'base64').toString('latin1');
  const damaged = Buffer.from(der.replace(time, `${time.slice(0, 2)}99${time.slice(4)}`), 'latin1');
  const pem = `-----BEGIN CERTIFICATE-----\n${damaged.toString('base64')}\n-----END CERTIFICATE-----\n`;

  expect(der).toContain(time);
  expect(() => read(pem, key)).toThrow('Its dates cannot be read.');
});
