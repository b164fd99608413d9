import { createPrivateKey, X509Certificate } from 'node:crypto';
import { certificatesIn, namesOf, privateKeyIn } from '../../../lib/pem.ts';
import { refuseOutOfDate, unusable } from '../../../recipes/renewed.ts';
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
    throw unusable(
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
    throw unusable(`Its key: ${key.problem}.`, 'Put certificate, intermediates and plain key into one file.');
  if (!certificate.checkPrivateKey(createPrivateKey(key.value.reveal())))
    throw unusable(
      'The key is not that of the first certificate.',
      'The server certificate comes first, then the others.',
    );
  refuseOutOfDate(certificate, nowMs);
}

/** Returns the certificates without a private key. */
export function certificatesOf({ bytes }: PemFile): Buffer {
  const certificates = certificatesIn(bytes.toString());
  if ('problem' in certificates)
    throw unusable(`It ${certificates.problem}.`, 'Give the file as it was issued, in PEM.');
  return Buffer.from(certificates.value);
}
