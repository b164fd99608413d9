import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import { createSecureContext } from 'node:tls';
import { errorCode, type Result } from './check.ts';
import { Secret } from './secret.ts';
import { oneLine } from './text.ts';

/**
 * Returns only the certificates of a PEM text: a private key in the same file must not stay in
 * memory.
 */
export function certificatesIn(text: string): Result<string> {
  const found = certificateParts(text);
  if (found.length === 0) {
    return {
      error:
        'contains no PEM certificate; it needs a part from "-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----"',
    };
  }
  const broken = found.findIndex((pem) => !isCertificate(pem));
  if (broken === -1) return { value: `${found.join('\n')}\n` };
  return { error: `certificate ${broken + 1} of ${found.length} in it is damaged; export it again` };
}

/**
 * Returns the parts of a PEM text that are certificates. The last one may have no end: a search for
 * the end of each of many beginnings would be quadratic.
 */
export function certificateParts(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----.*?(?:-----END CERTIFICATE-----|$)/gs) ?? [];
}

function isCertificate(pem: string): boolean {
  try {
    return Boolean(new X509Certificate(pem));
  } catch {
    return false;
  }
}

/** Returns the first private key of a PEM text, as PEM. */
export function privateKeyIn(text: string): Result<Secret> {
  const [pem] = /-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----.*?(?:-----END \1-----|$)/s.exec(text) ?? [];
  if (pem === undefined) {
    return {
      error:
        'contains no PEM private key; it needs a part from "-----BEGIN PRIVATE KEY-----" to "-----END PRIVATE KEY-----"',
    };
  }
  if (pem.includes('ENCRYPTED')) {
    return {
      error:
        'is protected by a passphrase, and nobody is there to type it; `openssl pkey -in KEY -out PLAIN_KEY` takes it off',
    };
  }
  try {
    createPrivateKey(pem);
    return { value: new Secret(`${pem}\n`) };
  } catch {
    return { error: 'the private key in it is damaged; export it again' };
  }
}

/**
 * Returns why a listener cannot use a key with the certificate of the setting `where`; undefined if
 * it can.
 */
export function pairProblem(cert: string, key: Secret, where: string): string | undefined {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key.reveal()))) {
    return `does not belong to the first certificate in ${where}; give the key of that one, and put it before the certificates of its authorities`;
  }
  try {
    createSecureContext({ cert, key: key.reveal() });
    return undefined;
  } catch (error) {
    return `cannot be used for TLS with the certificate in ${where} (${errorCode(error)}); make new ones, with an EC key or an RSA key of 2048 bits or more`;
  }
}

/** Returns the host names and addresses of a certificate, or its common name. */
export function namesOf(certificate: X509Certificate): readonly string[] {
  const alternatives = alternativeNames(certificate, ['DNS', 'IP Address']);
  const commonName = commonNameOf(certificate);
  return alternatives.length > 0 || commonName === undefined ? alternatives : [commonName];
}

/** Returns the common name of a certificate, or else its first alternative one. */
export function shownNameOf(certificate: X509Certificate): string | undefined {
  return commonNameOf(certificate) ?? namesOf(certificate)[0];
}

export function commonNameOf({ subject }: X509Certificate): string | undefined {
  return partOf(subject, 'CN') || undefined;
}

/** No name in use is as long. */
const maxLength = 256;

/**
 * Returns one part of a distinguished name. Node writes a line for each part, or several on one line
 * with plus signs between them. It has `undefined` for an empty name, which is valid: the alternative
 * names are enough.
 */
export function partOf(name: string | undefined, type: string): string | undefined {
  const [, value] = new RegExp(`(?:^| \\+ )${type}=(.*?)(?: \\+ |$)`, 'm').exec(name ?? '') ?? [];
  return value === undefined
    ? undefined
    : oneLine(value.slice(0, maxLength).replaceAll(/\\([^\dA-F])/g, '$1'), maxLength);
}

/** Returns the alternative names of some kinds: `DNS`, `IP Address`, `email`, `URI`. */
export function alternativeNames(
  { subjectAltName = '' }: X509Certificate,
  kinds: readonly string[],
): readonly string[] {
  // A name that holds a comma or a quote is written as a JSON string, so that it cannot pass for
  // two.
  const entries = subjectAltName.matchAll(/(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)/gy);
  return [...entries].flatMap(([, kind = '', value = '']) => {
    if (!kinds.includes(kind)) return [];
    const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
    return [kind === 'IP Address' ? plainAddress(name) : name];
  });
}

/** Returns an IPv6 address in its canonical spelling; any other text unchanged. */
export function plainAddress(text: string): string {
  return isIP(text) === 6 ? new SocketAddress({ address: text, family: 'ipv6' }).address : text;
}

/** Returns the names of a certificate that another one does not cover. */
export function namesLost(old: X509Certificate, renewed: X509Certificate): readonly string[] {
  const names = namesOf(renewed).map((name) => name.toLowerCase());
  // OpenSSL takes a name that begins with a dot for all names below it.
  const covers = (name: string): boolean =>
    names.includes(name.toLowerCase()) || (!name.startsWith('.') && renewed.checkHost(name) !== undefined);
  return namesOf(old).filter((name) => !covers(name));
}
