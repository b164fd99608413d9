import { createPrivateKey, X509Certificate } from 'node:crypto';
import { certificatesFile } from '../../../config/open-files.ts';
import { privateKeyIn } from '../../../config/pem.ts';
import { AdminError } from '../../../recipes/admin-error.ts';
import { readWhole } from '../content.ts';

/** A certificate file on this machine. */
export interface PemFile {
  readonly bytes: Buffer;
  /** The first certificate, the only one that an appliance reads (docs/api.md §3.11). */
  readonly certificate: X509Certificate;
  /** Host names and addresses of the certificate. */
  readonly names: readonly string[];
}

/** Reads a PEM file; rejects with an AdminError when it holds no certificate. */
export async function readPemFile(path: string): Promise<PemFile> {
  const bytes = await readWhole(path, 'file');
  try {
    const certificate = new X509Certificate(bytes);
    return { bytes, certificate, names: namesOf(certificate) };
  } catch {
    throw unfit(
      'It holds no certificate that can be read.',
      'Give a PEM file; each of its parts begins on a line of its own.',
    );
  }
}

/**
 * Throws an AdminError unless the certificate is valid now and has its key; the appliance stores a
 * file without these checks (docs/api.md §4.4).
 */
export function refuseUnusable(pem: PemFile, nowMs: number): void {
  const { bytes, certificate } = pem;
  const key = privateKeyIn(bytes.toString());
  if ('problem' in key)
    throw unfit(`Its key: ${key.problem}.`, 'Put certificate, intermediates and plain key into one file.');
  if (!certificate.checkPrivateKey(createPrivateKey(key.value.reveal())))
    throw unfit(
      'The key is not that of the first certificate.',
      'The server certificate comes first, then the others.',
    );
  refuseOutOfDate(pem, nowMs);
}

export function refuseOutOfDate({ certificate }: Pick<PemFile, 'certificate'>, nowMs: number): void {
  if (certificate.validToDate.getTime() <= nowMs)
    throw unfit(`It expired on ${day(certificate.validToDate)}.`, 'Give the new one.');
  if (certificate.validFromDate.getTime() > nowMs)
    throw unfit(
      `It is valid from ${day(certificate.validFromDate)} only.`,
      'Wait, or check the clock of this machine.',
    );
}

/** Returns the certificates without a private key. */
export function certificatesOf({ bytes }: PemFile): Buffer {
  const certificates = certificatesFile.read(bytes.toString());
  if ('problem' in certificates) throw unfit(`It ${certificates.problem}.`, 'Give the file as it was issued, in PEM.');
  return Buffer.from(certificates.value);
}

/** Returns `2026-11-21`, in UTC. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Returns the host names and addresses of a certificate, or its common name. */
export function namesOf({ subjectAltName = '', subject }: X509Certificate): readonly string[] {
  const alternatives = [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = '']) => name);
  const commonName = /^CN=(.*)$/m.exec(subject)?.[1];
  return alternatives.length > 0 || commonName === undefined ? alternatives : [commonName];
}

function unfit(detail: string, remedy: string): AdminError {
  return new AdminError('The file cannot be used', { detail: `${detail} Nothing was changed.`, remedy });
}
