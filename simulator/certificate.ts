import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A distinguished name; its parts stand in this order. It may be empty. */
export interface SubjectName {
  readonly CN?: string;
  readonly OU?: string;
}

/** A private key and its certificate, both in PEM. */
export interface Identity {
  readonly subject: SubjectName;
  readonly key: string;
  readonly cert: string;
}

export interface CertificateParts {
  readonly subject: SubjectName;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /**
   * Alternative names as openssl writes them: `DNS:shop.test`, `IP:192.0.2.1`, `URI:…`, `email:…`.
   */
  readonly altNames?: readonly string[];
  readonly usages?: readonly (keyof typeof usageOids)[];
  /** True for the certificate of an authority. */
  readonly isAuthority?: boolean;
  /** Any integer; random and positive if not given. */
  readonly serial?: bigint;
  /** An EC or RSA key; a new EC key on P-256 if not given. */
  readonly key?: KeyObject;
  /** The authority that signs; the certificate signs itself if not given. */
  readonly issuer?: Pick<Identity, 'subject' | 'key'>;
}

// Object identifiers in DER, without tag and length.
const nameOids = { CN: '550403', OU: '55040b' };
const usageOids = { serverAuth: '2b06010505070301', clientAuth: '2b06010505070302' };
const extensionOids = {
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  extKeyUsage: '551d25',
};
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const rsaWithSha256 = sequence(oid('2a864886f70d01010b'), der(0x05));
const yes = der(0x01, Buffer.of(0xff));

/**
 * Makes an X.509 certificate (RFC 5280), with the dates, names and serial number that are asked
 * for.
 */
export function createCertificate(parts: CertificateParts): Identity {
  const { subject, key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey } = parts;
  const signer = parts.issuer ? createPrivateKey(parts.issuer.key) : key;
  const algorithm = signer.asymmetricKeyType === 'rsa' ? rsaWithSha256 : ecdsaWithSha256;
  const extensions = extensionsOf(parts);
  const content = sequence(
    der(0xa0, integer(2n)), // version 3
    integer(parts.serial ?? BigInt(`0x${randomBytes(16).toString('hex')}`)),
    algorithm,
    distinguishedName(parts.issuer?.subject ?? subject),
    sequence(time(parts.notBefore), time(parts.notAfter)),
    distinguishedName(subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  const certificate = sequence(content, algorithm, bitString(0, sign('sha256', content, signer)));
  return {
    subject,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: new X509Certificate(certificate).toString(),
  };
}

function extensionsOf({ isAuthority = false, usages = [], altNames = [] }: CertificateParts): Buffer[] {
  const extension = (name: keyof typeof extensionOids, value: Buffer, ...critical: Buffer[]): Buffer =>
    sequence(oid(extensionOids[name]), ...critical, der(0x04, value));
  return [
    ...(isAuthority
      ? [
          extension('basicConstraints', sequence(yes), yes),
          extension('keyUsage', bitString(1, Buffer.of(0b110)), yes), // keyCertSign and cRLSign
        ]
      : []),
    ...(usages.length > 0 ? [extension('extKeyUsage', sequence(...usages.map((usage) => oid(usageOids[usage]))))] : []),
    ...(altNames.length > 0 ? [extension('subjectAltName', sequence(...altNames.map(altName)))] : []),
  ];
}

function altName(name: string): Buffer {
  const [kind = '', ...rest] = name.split(':');
  const value = rest.join(':');
  const tag = { email: 0x81, DNS: 0x82, URI: 0x86, IP: 0x87 }[kind];
  if (tag === undefined) throw new Error(`'${name}' begins with none of DNS:, IP:, URI:, email:`);
  return der(tag, kind === 'IP' ? addressBytes(value) : Buffer.from(value));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [before = [], after = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function distinguishedName(name: SubjectName): Buffer {
  const parts = Object.entries(name) as [keyof SubjectName, string][];
  return sequence(
    ...parts.map(([type, text]) => der(0x31, sequence(oid(nameOids[type]), der(0x0c, Buffer.from(text))))),
  );
}

/** Years from 1950 to 2049 have two digits, all others four (RFC 5280, 4.1.2.5). */
function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  const isShort = date.getUTCFullYear() >= 1950 && date.getUTCFullYear() < 2050;
  return isShort ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function integer(value: bigint): Buffer {
  let bytes = 1;
  while (BigInt.asIntN(8 * bytes, value) !== value) bytes += 1;
  const hex = BigInt.asUintN(8 * bytes, value).toString(16);
  return der(0x02, Buffer.from(hex.padStart(2 * bytes, '0'), 'hex'));
}

function bitString(unusedBits: number, content: Buffer): Buffer {
  return der(0x03, Buffer.of(unusedBits), content);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...items: Buffer[]): Buffer {
  return der(0x30, ...items);
}

/** Encodes one element of DER (ITU-T X.690): its tag, its length, its content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, body]);
}
