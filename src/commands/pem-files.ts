import { createSecureContext } from 'node:tls';
import { errorCode, type Result } from '../lib/check.ts';
import { certificatesIn, privateKeyIn } from '../lib/pem.ts';
import { readTextFile, type TlsFiles } from './server-address.ts';
import { UsageError } from './command.ts';

/** Reads files of PEM; `prefix` begins the names of their flags. Throws a UsageError for a wrong one. */
export async function readPemFiles(
  files: { readonly [Name in keyof TlsFiles]: string | undefined },
  prefix: string,
): Promise<TlsFiles> {
  const ca = files.ca && (await parsePemFile(`--${prefix}ca-file`, files.ca, certificatesIn));
  const cert = files.cert && (await parsePemFile(`--${prefix}cert-file`, files.cert, certificatesIn));
  const key = files.key && (await parsePemFile(`--${prefix}key-file`, files.key, privateKeyIn));
  const certificates = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
  assertUsable(certificates);
  return certificates;
}

function assertUsable({ ca, cert, key }: TlsFiles): void {
  try {
    createSecureContext({ ca, cert, key: key?.reveal() });
  } catch (error) {
    throw new UsageError(
      `the certificates given cannot be used (${errorCode(error)}): the private key must belong to the certificate`,
    );
  }
}

async function parsePemFile<T>(what: string, path: string, read: (text: string) => Result<T>): Promise<T> {
  const outcome = read(await readTextFile(what, path, 'certificates'));
  if ('error' in outcome) throw new UsageError(`${what} ${outcome.error}`);
  return outcome.value;
}
