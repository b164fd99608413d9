import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import { partOf } from './pem.ts';

/** No chain in use is as long. */
const maxIssuers = 8;
/** Signatures that are checked for one chain: a server may send hundreds of certificates of one name. */
const maxSignatures = 16;

/**
 * Returns the issuers of a certificate among others, each after the one that it issued, as a client
 * builds a chain. Of several that fit, such as two certificates of one authority, takes a valid one,
 * and of those the one that ends last. One that is not valid now is taken only if the chain needs it:
 * if no root of this machine has issued what comes before.
 */
export function chainOf(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  nowMs: number,
): readonly X509Certificate[] {
  const issuers: X509Certificate[] = [];
  let signatures = 0;
  for (let last = leaf; issuers.length < maxIssuers && !isRoot(last); ) {
    const child = last;
    const best = others
      .filter((each) => each !== leaf && !issuers.includes(each) && isNamedBy(each, child))
      .toSorted((one, other) => rankOf(other, nowMs) - rankOf(one, nowMs))
      .find((each) => (signatures += 1) <= maxSignatures && hasIssued(each, child));
    if (!best || (!isValidAt(best, nowMs) && isAnchored(last, nowMs))) break;
    issuers.push(best);
    last = best;
  }
  return issuers;
}

export function isRoot(certificate: X509Certificate): boolean {
  return hasIssued(certificate, certificate);
}

/** Returns true for a root, and for what a root of this machine has issued that is valid now. */
export function isAnchored(certificate: X509Certificate, nowMs: number): boolean {
  if (isRoot(certificate)) return true;
  const roots = trustedRoots(Buffer.from(issuerNameOf(certificate)), ['default', 'system', 'extra']);
  return roots.some((root) => isValidAt(root, nowMs) && hasIssued(root, certificate));
}

/**
 * Returns true for a cross-signed root, if this machine trusts a certificate with the same key that
 * ends later.
 */
export function isAnchoredLonger(certificate: X509Certificate): boolean {
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
  const roots = trustedRoots(key, ['default', 'system']);
  return roots.some((root) => lifeOf(root).endsAtMs > lifeOf(certificate).endsAtMs);
}

/**
 * Returns the trusted roots that contain these bytes, such as a name or a key; nearly all do not,
 * and are not parsed. Reads files of the system, so ask once for a chain.
 */
function trustedRoots(part: Buffer, stores: readonly ('default' | 'system' | 'extra')[]): readonly X509Certificate[] {
  const pems = new Set(stores.flatMap((store) => getCACertificates(store)));
  return [...pems].flatMap((pem) => {
    const bytes = Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64');
    return bytes.includes(part) ? [new X509Certificate(bytes)] : [];
  });
}

/** Returns a larger number for what a client takes first: what is valid, and then what ends last. */
function rankOf(certificate: X509Certificate, nowMs: number): number {
  const { endsAtMs } = lifeOf(certificate);
  return isValidAt(certificate, nowMs) ? endsAtMs : endsAtMs - Number.MAX_SAFE_INTEGER;
}

/** Compares names and key identifiers. */
function isNamedBy(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer);
  } catch {
    // A key of a kind that OpenSSL does not know.
    return false;
  }
}

/** Compares names and key identifiers, and checks the signature: authorities may have one name. */
function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return isNamedBy(issuer, certificate) && certificate.verify(issuer.publicKey);
  } catch {
    // A key of a kind that OpenSSL does not know.
    return false;
  }
}

/** Returns true for a certificate whose dates include a moment. */
export function isValidAt(certificate: X509Certificate, nowMs: number): boolean {
  const { startsAtMs, endsAtMs } = lifeOf(certificate);
  return startsAtMs <= nowMs && nowMs < endsAtMs;
}

/**
 * Returns when a certificate begins and ends, in Unix milliseconds; NaN for a date that cannot be
 * read. Then `validToDate` of Node.js is any day (seen with 24.21.0), and the text says so.
 */
export function lifeOf({ validFrom, validTo }: Pick<X509Certificate, 'validFrom' | 'validTo'>): {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
} {
  return { startsAtMs: Date.parse(validFrom), endsAtMs: Date.parse(validTo) };
}

/** Returns the name of the authority that issued a certificate; '' if it has neither of the two. */
export function issuerNameOf({ issuer }: X509Certificate): string {
  return partOf(issuer, 'CN') ?? partOf(issuer, 'O') ?? '';
}
