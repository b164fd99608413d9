import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chainOf, isAnchored, issuerNameOf, isValidAt, lifeOf } from '../../lib/chain.ts';
import { certificateParts, namesOf, privateKeyIn, shownNameOf } from '../../lib/pem.ts';
import { dayOf } from '../../lib/time.ts';
import { AdminError } from '../policy/admin-error.ts';

/** A renewed certificate, ready for the store of an appliance. */
export interface NewCertificate {
  readonly x509: X509Certificate;
  /** Host names and addresses. */
  readonly names: readonly string[];
  /** Or the first of its names. */
  readonly commonName: string;
  /** Its file in the store: the same for every run, and another for every certificate. */
  readonly file: string;
  /** PEM: the certificate, its intermediates in their order, the key. */
  readonly bytes: Buffer;
}

export interface PemText {
  readonly path: string;
  readonly text: string;
}

export interface NewCertificateOptions {
  readonly nowMs: number;
  /** True to take a chain that is not complete. */
  readonly isIncompleteAllowed?: boolean;
}

/**
 * Returns a certificate with its intermediates and its key, which may be in any order and with
 * anything between them. Throws an AdminError when the key does not fit, the certificate is not
 * valid now, or its chain is not complete.
 */
export function readNewCertificate(
  cert: PemText,
  key: PemText,
  { nowMs, isIncompleteAllowed = false }: NewCertificateOptions,
): NewCertificate {
  const certificates = certificatesOf(cert);
  const privateKey = privateKeyIn(withoutReturns(key.text));
  if ('error' in privateKey)
    throw undeliverable(`${key.path} ${privateKey.error}.`, 'Give the plain key of the certificate.');
  const secret = createPrivateKey(privateKey.value.reveal());
  const leaf = certificates.find((each) => each.checkPrivateKey(secret));
  if (!leaf)
    throw undeliverable(
      `The key in ${key.path} does not belong to any certificate in ${cert.path}.`,
      'Give the key that belongs to it.',
    );
  assertValidNow(leaf, nowMs);
  const names = namesOf(leaf);
  const commonName = shownNameOf(leaf);
  if (commonName === undefined)
    throw undeliverable(`The certificate in ${cert.path} has no name.`, 'Give one for a host name.');
  const chain = completeChain(leaf, { all: certificates, path: cert.path, nowMs, isIncompleteAllowed });
  return {
    x509: leaf,
    names,
    commonName,
    file: storeFile(commonName, leaf),
    bytes: Buffer.from([...chain.map(String), privateKey.value.reveal()].join('')),
  };
}

export function assertValidNow(certificate: X509Certificate, nowMs: number): void {
  const { startsAtMs, endsAtMs } = lifeOf(certificate);
  if (endsAtMs <= nowMs) throw unusableFile(`It expired on ${dayOf(endsAtMs)}.`, 'Give the new one.');
  if (startsAtMs > nowMs)
    throw unusableFile(`It is valid from ${dayOf(startsAtMs)} only.`, 'Wait, or check the clock of this machine.');
  if (!isValidAt(certificate, nowMs))
    throw unusableFile('Its dates cannot be read.', 'Let its authority issue it again.');
}

function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function certificatesOf({ path, text }: PemText): readonly X509Certificate[] {
  const blocks = certificateParts(withoutReturns(text));
  if (blocks.length === 0) throw undeliverable(`${path} contains no PEM certificate.`, 'Give the full chain, in PEM.');
  try {
    return blocks.map((pem) => new X509Certificate(pem));
  } catch {
    throw undeliverable(`A certificate in ${path} is damaged.`, 'Export it again.');
  }
}

/**
 * Returns the certificate and its issuers, each after the one that it issued. Throws an AdminError
 * if clients would lack one: they refuse the certificate then, unless they have it from elsewhere.
 */
function completeChain(
  leaf: X509Certificate,
  { all, path, nowMs, isIncompleteAllowed }: ChainParts,
): readonly X509Certificate[] {
  const issuers = chainOf(leaf, all, nowMs);
  const last = issuers.at(-1) ?? leaf;
  const outdated = issuers.find((each) => !isValidAt(each, nowMs));
  if (isIncompleteAllowed || (!outdated && isAnchored(last, nowMs))) return [leaf, ...issuers];
  const name = issuerNameOf(last) || 'an authority without a name';
  throw undeliverable(
    outdated
      ? `The intermediate certificate ${shownNameOf(outdated) ?? 'without a name'} in ${path} is valid from ${dayOf(lifeOf(outdated).startsAtMs)} to ${dayOf(lifeOf(outdated).endsAtMs)} only, so clients would refuse the chain.`
      : `${path} lacks the certificate of ${name}, which issued ${issuers.length > 0 ? 'the last one in it' : 'the certificate'}, and no root of this machine is its issuer: clients would refuse it.`,
    'Give the full chain (fullchain.pem). Add a private authority to the trust store of this machine. To deliver it nevertheless: deliver --incomplete-chain, or replace-certificate incomplete_chain=true.',
  );
}

interface ChainParts {
  readonly all: readonly X509Certificate[];
  readonly path: string;
  readonly nowMs: number;
  /** True to deliver a chain that is not complete. */
  readonly isIncompleteAllowed: boolean;
}

/** Returns a name of letters, digits and dots, with the beginning of the fingerprint. */
function storeFile(commonName: string, { fingerprint256 }: X509Certificate): string {
  const name = commonName
    .replace(/^\*\./, 'wildcard.')
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, 64);
  return `${name}-${fingerprint256.replaceAll(':', '').slice(0, 12).toLowerCase()}.pem`;
}

function undeliverable(detail: string, remedy: string): AdminError {
  return new AdminError('The certificate cannot be delivered', { detail: `${detail} Nothing was changed.`, remedy });
}

/** Returns an error about a file of this machine. */
export function unusableFile(detail: string, remedy: string): AdminError {
  return new AdminError('The file cannot be used', { detail: `${detail} Nothing was changed.`, remedy });
}
